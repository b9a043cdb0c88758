package io.lendstream.core.state;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Optional;

/**
 * The GPUs of a job.
 *
 * @param allocation as last decided: GPUs that it holds or is about to
 * @param sliceShare where that is a MIG instance, the share of a GPU that it is
 * @param target GPUs that the plan wants it to hold; equals the allocation's when nothing is to change
 * @param paused the host memory that it has without GPUs; empty if it is not paused
 * @param origin who started what runs on its GPUs, whatever its owner declares later
 */
public record JobGrant(
        Allocation allocation,
        Optional<Double> sliceShare,
        List<GpuId> target,
        Optional<PausedAt> paused,
        JobOrigin origin) {
    public JobGrant {
        target = GpuId.sorted(target);
    }

    /** The GPUs of a job that is not paused. */
    JobGrant(Allocation allocation, Optional<Double> sliceShare, List<GpuId> target) {
        this(allocation, sliceShare, target, Optional.empty(), JobOrigin.LENDSTREAM);
    }

    int gpus() {
        return allocation.gpus().size();
    }

    JobGrant aiming(List<GpuId> next) {
        return new JobGrant(allocation, sliceShare, next, paused, origin);
    }

    /** A pause ends where the job gets GPUs. One that has none is started on its next ones by Lendstream. */
    JobGrant holding(Allocation next, Optional<Double> share) {
        boolean goesOn = gpus() > 0 && !next.gpus().isEmpty();
        return new JobGrant(
                next,
                share,
                target,
                next.gpus().isEmpty() ? paused : Optional.empty(),
                goesOn ? origin : JobOrigin.LENDSTREAM);
    }

    /** The same for a job of which it is known who started what runs on its GPUs. */
    JobGrant from(JobOrigin known) {
        return new JobGrant(allocation, sliceShare, target, paused, known);
    }

    /** The same when the last change is in force. Unless that was a pause, nothing is in host memory any more. */
    JobGrant settled() {
        return paused.isEmpty() || allocation.isPaused() ? this : paused(Optional.empty());
    }

    JobGrant paused(Optional<PausedAt> at) {
        return new JobGrant(allocation, sliceShare, target, at, origin);
    }

    /** The same in which two units stand for each other. */
    JobGrant exchanging(GpuId one, GpuId other) {
        return new JobGrant(
                allocation.exchanging(one, other),
                sliceShare,
                GpuId.exchanged(target, one, other),
                Optional.empty(),
                origin);
    }

    JobGrant without(List<GpuId> lost) {
        List<GpuId> rest =
                allocation.gpus().stream().filter(gpu -> !lost.contains(gpu)).toList();
        return new JobGrant(
                rest.isEmpty() ? Allocation.suspended(allocation.mechanism()) : allocation.on(rest),
                rest.isEmpty() ? Optional.empty() : sliceShare,
                target.stream().filter(gpu -> !lost.contains(gpu)).toList(),
                paused,
                rest.isEmpty() ? JobOrigin.LENDSTREAM : origin);
    }
}
