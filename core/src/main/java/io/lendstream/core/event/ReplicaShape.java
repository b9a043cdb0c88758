package io.lendstream.core.event;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.Checks;
import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.Flat;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The units that a replica of a service holds together, and what it answers with them.
 *
 * @param name unique in the service
 * @param perSecond requests per second that a replica of this shape answers within the SLO; if empty, as the service
 *     declares
 * @param capacities the kinds of GPU that it may use, preferred ones first, with its capacity on each; if empty, all.
 *     A replica has GPUs of one kind
 * @param memoryBytes the memory that it needs on each GPU
 * @param within the domain of the topology that its nodes share; a level of a later version is left out
 */
public record ReplicaShape(
        String name,
        ReplicaRole role,
        int gpusPerNode,
        int nodes,
        Optional<Double> perSecond,
        List<KindCapacity> capacities,
        @Flat StartTimes starts,
        Optional<Long> memoryBytes,
        Optional<TopologyLevel> within) {
    public ReplicaShape {
        capacities = List.copyOf(capacities);
        Checks.atLeast("gpusPerNode", 1, gpusPerNode);
        Checks.atLeast("nodes", 1, nodes);
        perSecond.filter(rate -> !(rate > 0) || Double.isInfinite(rate)).ifPresent(rate -> {
            throw new IllegalArgumentException(
                    "perSecond of shape %s must be a finite number above 0, but was %s".formatted(name, rate));
        });
        memoryBytes.ifPresent(bytes -> Checks.atLeast("memoryBytes", 1, bytes));
        within = within.filter(level -> level != TopologyLevel.UNKNOWN);
    }

    /** A shape for whole requests on all kinds of GPU. */
    public static ReplicaShape of(String name, int gpusPerNode, int nodes, double perSecond, Duration cold) {
        return new ReplicaShape(
                name,
                ReplicaRole.ALL,
                gpusPerNode,
                nodes,
                Optional.of(perSecond),
                List.of(),
                StartTimes.of(cold),
                Optional.empty(),
                Optional.empty());
    }

    /** The same shape for a role. */
    public ReplicaShape as(ReplicaRole other) {
        return new ReplicaShape(name, other, gpusPerNode, nodes, perSecond, capacities, starts, memoryBytes, within);
    }

    /** The same with other start times. */
    public ReplicaShape starting(StartTimes times) {
        return new ReplicaShape(name, role, gpusPerNode, nodes, perSecond, capacities, times, memoryBytes, within);
    }

    /** The same on some kinds of GPU. */
    public ReplicaShape onKinds(List<KindCapacity> kinds) {
        return new ReplicaShape(name, role, gpusPerNode, nodes, perSecond, kinds, starts, memoryBytes, within);
    }

    /** The same where a replica needs so much memory on each GPU. */
    public ReplicaShape withMemory(long bytes) {
        return new ReplicaShape(
                name, role, gpusPerNode, nodes, perSecond, capacities, starts, Optional.of(bytes), within);
    }

    /** The same with all nodes in one domain of a level. */
    public ReplicaShape within(TopologyLevel level) {
        return new ReplicaShape(
                name, role, gpusPerNode, nodes, perSecond, capacities, starts, memoryBytes, Optional.of(level));
    }

    /** The same with its start times only: the service declares the rest if a replica has one GPU. */
    ReplicaShape ofStarts() {
        return new ReplicaShape(
                name,
                role,
                gpusPerNode,
                nodes,
                Optional.empty(),
                List.of(),
                starts,
                Optional.empty(),
                Optional.empty());
    }

    /** How many GPUs a replica has. */
    public int units() {
        return gpusPerNode * nodes;
    }

    /** Whether it may use GPUs of a kind: one that it declares, with the memory that it needs. */
    public boolean uses(Optional<KindId> kind) {
        if (kind.isEmpty()) {
            return true;
        }
        boolean isDeclared = capacities.isEmpty() || declared(kind.get()).isPresent();
        return isDeclared && (memoryBytes.isEmpty() || kind.get().hasMemory(memoryBytes.get()));
    }

    /** The place of a kind in the order in which it prefers them. */
    public int preference(Optional<KindId> kind) {
        if (kind.isPresent()) {
            for (int i = 0; i < capacities.size(); i++) {
                if (capacities.get(i).kind().equals(kind.get())) {
                    return i;
                }
            }
        }
        return 0;
    }

    /**
     * Requests per second that a replica is planned with on a kind of GPU.
     *
     * @param ofService as the service declares for a replica
     */
    public double capacityOn(Optional<KindId> kind, double ofService) {
        double usual = perSecond.orElse(ofService);
        return kind.flatMap(this::declared).map(known -> known.least(usual)).orElse(usual);
    }

    /** The same if its owner is right: a ratio counts in full. */
    public double likelyCapacityOn(Optional<KindId> kind, double ofService) {
        double usual = perSecond.orElse(ofService);
        return kind.flatMap(this::declared).map(known -> known.likely(usual)).orElse(usual);
    }

    /** From the decision to a replica that answers, on a kind of GPU. */
    public Duration coldOn(Optional<KindId> kind) {
        return kind.flatMap(this::declared).flatMap(KindCapacity::warmUp).orElse(starts.cold());
    }

    /**
     * The same where the model may be there already.
     *
     * @param isCached whether the service has a replica on the node
     */
    public Duration startOn(Optional<KindId> kind, boolean isCached) {
        return isCached && starts.cached().isPresent() ? starts.cached().get() : coldOn(kind);
    }

    /**
     * The longest time from a decision to a replica that answers, on any kind and from sleep too.
     *
     * @param isCached whether its model is on every node where it could start
     */
    public Duration longestStart(boolean isCached) {
        Duration longest = starts.cold();
        for (KindCapacity kind : capacities) {
            Duration warmUp = kind.warmUp().orElse(starts.cold());
            longest = longest.compareTo(warmUp) >= 0 ? longest : warmUp;
        }
        return starts.longest(longest, isCached);
    }

    private Optional<KindCapacity> declared(KindId kind) {
        for (KindCapacity each : capacities) {
            if (each.kind().equals(kind)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** The same by the kinds that count instead of others. Of several that count as one, the first one counts. */
    ReplicaShape countedBy(GpuKinds kinds) {
        Map<KindId, KindCapacity> counted = new LinkedHashMap<>();
        for (KindCapacity each : capacities) {
            KindId kind = kinds.counted(each.kind());
            counted.putIfAbsent(kind, each.on(kind));
        }
        return onKinds(List.copyOf(counted.values()));
    }

    /** For people, such as {@code tp8 (2 x 4 GPUs)}, or {@code in (prefill, 4 GPUs)}. */
    public String inWords() {
        String part = role.isPart() ? role.inWords() + ", " : "";
        String gpus = Reason.counted(gpusPerNode, "GPU");
        return nodes == 1
                ? "%s (%s%s)".formatted(name, part, gpus)
                : "%s (%s%d x %s)".formatted(name, part, nodes, gpus);
    }
}
