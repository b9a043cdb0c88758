package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** A job's target: its slots, the change that set them, and the reports made so far. Reads no clock. */
final class JobTarget {
    /** Slots in which the job should run, each with the change that added it. */
    private final Map<GpuId, Wanted> wanted = new TreeMap<>();
    /** Slots that the job should leave, and that may still have workers. */
    private final Map<GpuId, Released> releases = new TreeMap<>();

    private Batching batching;
    private Optional<WorldPart> world = Optional.empty();
    private DecisionId change;
    private long askedNanos;
    private boolean settled;
    private boolean stopping;

    /** @param isBound whether a worker was reported to compute there */
    private record Wanted(Slot slot, DecisionId addedBy, boolean isBound) {}

    /**
     * A slot that the job should leave.
     *
     * @param change the change that removed the slot
     * @param askedNanos when that change arrived
     */
    record Released(Slot slot, DecisionId change, long askedNanos) {}

    JobTarget(Batching batching, DecisionId change, long nowNanos) {
        this.batching = batching;
        this.change = change;
        this.askedNanos = nowNanos;
    }

    /** Takes over the slots of an earlier node process; batching and change came with the constructor. */
    void restore(JobFile file) {
        askedNanos = file.lastChange().askedNanos();
        settled = file.lastChange().settled();
        stopping = file.lastChange().stopping();
        world = file.world();
        for (JobFile.WantedSlot each : file.wanted()) {
            Slot slot = new Slot(new GpuId(each.gpu()), each.device());
            wanted.put(slot.gpu(), new Wanted(slot, DecisionId.parse(each.addedBy()), each.bound()));
        }
        for (JobFile.Release each : file.releases()) {
            Slot slot = new Slot(new GpuId(each.gpu()), each.device());
            releases.put(slot.gpu(), new Released(slot, DecisionId.parse(each.change()), each.askedNanos()));
        }
    }

    /** Whether another change would replace this one before it is complete. */
    boolean isSupersededBy(DecisionId next) {
        return !settled && !next.equals(change);
    }

    /**
     * Sets the slots in which the job should run, and no others.
     *
     * @param nextWorld the machines over which the job is to train; empty if only on this one
     */
    void replace(
            Collection<Slot> slots,
            Batching nextBatching,
            DecisionId nextChange,
            Optional<WorldPart> nextWorld,
            long nowNanos) {
        settled = false;
        world = nextWorld;
        change = nextChange;
        batching = nextBatching;
        askedNanos = nowNanos;
        Map<GpuId, Slot> next = new TreeMap<>();
        slots.forEach(slot -> next.put(slot.gpu(), slot));
        for (Wanted each : List.copyOf(wanted.values())) {
            if (!next.containsKey(each.slot().gpu())) {
                wanted.remove(each.slot().gpu());
                releases.put(each.slot().gpu(), new Released(each.slot(), nextChange, nowNanos));
            }
        }
        next.forEach((gpu, slot) -> wanted.computeIfAbsent(gpu, any -> new Wanted(slot, nextChange, false)));
    }

    /** Sets that the job should end. */
    void stop() {
        stopping = true;
    }

    /** Marks the change as complete. */
    void settle() {
        settled = true;
    }

    /** Marks slots as bound; returns those that were not, by the change that added them. */
    Map<DecisionId, List<Slot>> bind(Collection<Slot> computing) {
        Map<DecisionId, List<Slot>> fresh = new TreeMap<>();
        for (Slot slot : computing) {
            Wanted known = wanted.get(slot.gpu());
            if (known != null && !known.isBound()) {
                wanted.put(slot.gpu(), new Wanted(slot, known.addedBy(), true));
                fresh.computeIfAbsent(known.addedBy(), any -> new ArrayList<>()).add(slot);
            }
        }
        return fresh;
    }

    /** Forgets a slot to leave when it has no worker any more; empty if the job should not leave it. */
    Optional<Released> release(GpuId gpu) {
        return Optional.ofNullable(releases.remove(gpu));
    }

    Batching batching() {
        return batching;
    }

    /** The machines over which the job is to train; empty if only on this one. */
    Optional<WorldPart> world() {
        return world;
    }

    /** The decision that made {@link #world}. */
    Optional<DecisionId> worldOf() {
        return world.map(any -> change);
    }

    DecisionId change() {
        return change;
    }

    long askedNanos() {
        return askedNanos;
    }

    boolean isSettled() {
        return settled;
    }

    boolean isStopping() {
        return stopping;
    }

    /** The slots in which the job should run, by GPU. */
    List<Slot> slots() {
        return wanted.values().stream().map(Wanted::slot).toList();
    }

    List<Slot> bound() {
        return wanted.values().stream()
                .filter(Wanted::isBound)
                .map(Wanted::slot)
                .toList();
    }

    List<Slot> leaving() {
        return releases.values().stream().map(Released::slot).toList();
    }

    boolean isReleased(Slot slot) {
        return releases.containsKey(slot.gpu());
    }

    /** The change that removed a slot, if the job should leave it. */
    Optional<DecisionId> releasedBy(Slot slot) {
        return Optional.ofNullable(releases.get(slot.gpu())).map(Released::change);
    }

    /** Whether a worker in these slots should stay. A slot that was removed and added again is first released. */
    boolean wants(Collection<Slot> slots) {
        return slots.stream().allMatch(slot -> wanted.containsKey(slot.gpu()) && !isReleased(slot));
    }

    /** Whether these are exactly the slots in which the job should run. */
    boolean isExactly(Collection<Slot> slots) {
        return Set.copyOf(slots).equals(new HashSet<>(slots()));
    }

    /** The change that added a slot; the last change if the job should not run in it. */
    DecisionId causeOf(Slot slot) {
        Wanted known = wanted.get(slot.gpu());
        return known == null ? change : known.addedBy();
    }

    List<JobFile.WantedSlot> wantedEntries() {
        return wanted.values().stream()
                .map(each -> new JobFile.WantedSlot(
                        each.slot().gpu().value(),
                        each.slot().device(),
                        each.addedBy().toString(),
                        each.isBound()))
                .toList();
    }

    List<JobFile.Release> releaseEntries() {
        return releases.values().stream()
                .map(each -> new JobFile.Release(
                        each.slot().gpu().value(),
                        each.slot().device(),
                        each.change().toString(),
                        each.askedNanos()))
                .toList();
    }
}
