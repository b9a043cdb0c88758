package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The replicas that a service lacks, while units are found for them. */
final class MissingReplicas {
    private final Optional<KindNeed> byKind;
    private final List<GpuId> found = new ArrayList<>();
    private int left;

    private MissingReplicas(Optional<KindNeed> byKind, int left) {
        this.byKind = byKind;
        this.left = left;
    }

    /** A number of replicas, each on any unit. */
    static MissingReplicas of(int count) {
        return new MissingReplicas(Optional.empty(), count);
    }

    /**
     * Replicas that answer more or less by the kind of their unit.
     *
     * @param units the most that may be found
     */
    static MissingReplicas of(KindNeed need, int units) {
        return new MissingReplicas(Optional.of(need), units);
    }

    /** All replicas that services lack. */
    static int sum(Collection<Integer> missing) {
        long sum = 0;
        for (int count : missing) {
            sum += count;
        }
        return (int) Math.min(Integer.MAX_VALUE, sum);
    }

    boolean isAny() {
        return left > 0 && (byKind.isEmpty() || byKind.get().missing() > 0);
    }

    /** The most units that are still to be found. */
    int left() {
        return byKind.isEmpty() ? left : Math.min(left, byKind.get().mostMissing());
    }

    /** Counts a unit that is found for a replica. */
    void found(GpuState unit) {
        left--;
        found.add(unit.gpuId());
        byKind.ifPresent(need -> need.count(unit));
    }

    /** Leaves out a unit that was found if the others are enough without it; returns whether they are. */
    boolean leaveOut(GpuState unit) {
        if (byKind.isEmpty() || !byKind.get().leaveOut(unit)) {
            return false;
        }
        left++;
        found.remove(unit.gpuId());
        return true;
    }

    List<GpuId> found() {
        return found;
    }
}
