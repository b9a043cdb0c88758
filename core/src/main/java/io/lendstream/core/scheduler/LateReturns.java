package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Trust;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Counts late reclaims: inference GPUs that a job had to give back, and that were released after the deadline, by
 * force, or not at all. A GPU that a job leaves because it has ended does not count. An actuator whose clock is ahead
 * does not make a return late.
 */
final class LateReturns {
    private LateReturns() {}

    /** The mode after a step that has changed the owners of some units. */
    static Mode counted(StepBuilder builder, Set<GpuId> changed) {
        Mode mode = builder.mode();
        Optional<Trust> trust = mode.trust();
        if (trust.isEmpty() || changed.isEmpty()) {
            return mode;
        }
        int late = 0;
        for (GpuId id : changed) {
            late += builder.before()
                            .gpus()
                            .get(id)
                            .filter(before -> isLate(builder, before))
                            .isPresent()
                    ? 1
                    : 0;
        }
        return late == 0 ? mode : mode.with(trust.get().late(late, builder.now()));
    }

    private static boolean isLate(StepBuilder builder, GpuState before) {
        Optional<Owner.Releasing> reclaim = before.owner().asReleasing();
        if (reclaim.isEmpty() || before.pool() != Pool.INFERENCE) {
            return false;
        }
        boolean isOfRunningJob = reclaim.get()
                .tenant()
                .jobId()
                .flatMap(builder.before().jobs()::get)
                .filter(job -> !job.isOver())
                .isPresent();
        boolean goesOn = builder.gpus()
                .get(before.gpuId())
                .flatMap(unit -> unit.owner().asReleasing())
                .filter(reclaim.get()::equals)
                .isPresent();
        if (!isOfRunningJob || goesOn) {
            return false;
        }
        Optional<ActuationReport> report = builder.event().asReport();
        Instant at =
                report.map(ActuationReport::at).filter(builder.now()::isAfter).orElse(builder.now());
        return at.isAfter(reclaim.get().by())
                || report.filter(each -> each.outcome() == Outcome.FORCED).isPresent();
    }
}
