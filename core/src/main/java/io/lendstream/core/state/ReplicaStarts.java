package io.lendstream.core.state;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.NodeId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What is known of the starts of a service's replicas.
 *
 * @param startUps how long they took; empty unless that is learned
 * @param faults the nodes that could not run its program, by name; at most {@value #MOST_FAULTS}
 */
public record ReplicaStarts(List<StartUp> startUps, List<ProgramFault> faults) {
    static final ReplicaStarts NONE = new ReplicaStarts(List.of(), List.of());

    private static final int MOST_FAULTS = 100;

    public ReplicaStarts {
        startUps = List.copyOf(startUps);
        faults = List.copyOf(faults);
    }

    ReplicaStarts with(List<StartUp> times) {
        return new ReplicaStarts(times, faults);
    }

    /** What is still known after a new declaration, with which starts may take another time. */
    ReplicaStarts redeclared(InferenceService before, InferenceService next) {
        boolean startsAlike = next.warmUp().equals(before.warmUp())
                && next.hardware().equals(before.hardware())
                && next.models().equals(before.models());
        return new ReplicaStarts(startsAlike ? startUps : List.of(), next.equals(before) ? faults : List.of());
    }

    /** With one more start that a node could not make. The oldest fault is forgotten if there are too many. */
    public ReplicaStarts failed(NodeId node, String why, Instant now) {
        List<ProgramFault> next = new ArrayList<>(faults);
        next.removeIf(fault -> fault.node().equals(node));
        if (next.size() == MOST_FAULTS) {
            next.remove(
                    next.stream().min(Comparator.comparing(ProgramFault::until)).orElseThrow());
        }
        next.add(ProgramFault.after(on(node), node, why, now));
        next.sort(Comparator.comparing(ProgramFault::node));
        return new ReplicaStarts(startUps, next);
    }

    /** After a start on a node. */
    public ReplicaStarts ran(NodeId node) {
        return new ReplicaStarts(
                startUps,
                faults.stream().filter(fault -> !fault.node().equals(node)).toList());
    }

    /** The same without the faults of nodes. */
    public ReplicaStarts untried() {
        return new ReplicaStarts(startUps, List.of());
    }

    /** The same after all waits up to a time. */
    public ReplicaStarts triedAgain(Instant now) {
        return new ReplicaStarts(
                startUps,
                faults.stream()
                        .map(fault -> fault.waits() && !fault.until().isAfter(now) ? fault.triedAgain() : fault)
                        .toList());
    }

    /** The fault of a node. */
    public Optional<ProgramFault> on(NodeId node) {
        for (ProgramFault fault : faults) {
            if (fault.node().equals(node)) {
                return Optional.of(fault);
            }
        }
        return Optional.empty();
    }

    /** Whether replicas are not started on a node now. If very many nodes could not run it, no further one is tried. */
    public boolean wait(NodeId node) {
        if (faults.isEmpty()) {
            return false;
        }
        Optional<ProgramFault> known = on(node);
        return known.isPresent()
                ? known.get().waits()
                : faults.size() == MOST_FAULTS && faults.stream().allMatch(ProgramFault::waits);
    }

    /** Whether replicas are not started on some node now. */
    public boolean waitAnywhere() {
        return firstEnd().isPresent();
    }

    /** The end of the first wait. */
    Optional<Instant> firstEnd() {
        return faults.isEmpty()
                ? Optional.empty()
                : faults.stream()
                        .filter(ProgramFault::waits)
                        .map(ProgramFault::until)
                        .min(Comparator.naturalOrder());
    }
}
