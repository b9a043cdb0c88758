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

/** What a job is to run on, the change that says so, and how much of that has been reported. Reads no clock. */
final class JobTarget {
    /** Slots that the job is to run in, each with the change that added it. */
    private final Map<GpuId, Wanted> wanted = new TreeMap<>();
    /** Slots that the job is to leave, and in which workers may still be. */
    private final Map<GpuId, Released> releases = new TreeMap<>();

    private Batching batching;
    private DecisionId change;
    private long askedNanos;
    private boolean settled;
    private boolean stopping;

    /** @param isBound whether it was reported that a worker computes there */
    private record Wanted(Slot slot, DecisionId addedBy, boolean isBound) {}

    /**
     * A slot that the job is to leave.
     *
     * @param change the change that took the slot away
     * @param askedNanos when that change came
     */
    record Released(Slot slot, DecisionId change, long askedNanos) {}

    JobTarget(Batching batching, DecisionId change, long nowNanos) {
        this.batching = batching;
        this.change = change;
        this.askedNanos = nowNanos;
    }

    /** Takes over what another node process has left; batching and change came with the constructor. */
    void restore(JobFile file) {
        askedNanos = file.lastChange().askedNanos();
        settled = file.lastChange().settled();
        stopping = file.lastChange().stopping();
        for (JobFile.WantedSlot each : file.wanted()) {
            Slot slot = new Slot(new GpuId(each.gpu()), each.device());
            wanted.put(slot.gpu(), new Wanted(slot, DecisionId.parse(each.addedBy()), each.bound()));
        }
        for (JobFile.Release each : file.releases()) {
            Slot slot = new Slot(new GpuId(each.gpu()), each.device());
            releases.put(slot.gpu(), new Released(slot, DecisionId.parse(each.change()), each.askedNanos()));
        }
    }

    /** Whether another change would end this one before it is complete. */
    boolean isSupersededBy(DecisionId next) {
        return !settled && !next.equals(change);
    }

    /** The job is to run in these slots and in no other. */
    void replace(Collection<Slot> slots, Batching nextBatching, DecisionId nextChange, long nowNanos) {
        settled = false;
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

    /** The job is to end. */
    void stop() {
        stopping = true;
    }

    /** The change is complete. */
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

    /** Forgets a slot that the job is to leave, when no worker is in it any more; empty if the job is not to leave it. */
    Optional<Released> release(GpuId gpu) {
        return Optional.ofNullable(releases.remove(gpu));
    }

    Batching batching() {
        return batching;
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

    /** The slots that the job is to run in, by GPU. */
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

    /** The change that took a slot away, if the job is to leave it. */
    Optional<DecisionId> releasedBy(Slot slot) {
        return Optional.ofNullable(releases.get(slot.gpu())).map(Released::change);
    }

    /** Whether a worker in these slots is to stay. A slot that was taken and given again is first released. */
    boolean wants(Collection<Slot> slots) {
        return slots.stream().allMatch(slot -> wanted.containsKey(slot.gpu()) && !isReleased(slot));
    }

    /** Whether these are all slots that the job is to run in, and no other. */
    boolean isExactly(Collection<Slot> slots) {
        return Set.copyOf(slots).equals(new HashSet<>(slots()));
    }

    /** The change that added a slot; the last change where the job is not to run in it. */
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
