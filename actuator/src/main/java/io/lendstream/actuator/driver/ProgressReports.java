package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.StepReport;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Converts jobs' step reports to progress events; a job's last report is published at its end. */
final class ProgressReports {
    private final Map<JobId, TrainingProgress> last = new ConcurrentHashMap<>();

    /**
     * @param nodes the machines on which it trains
     * @param kind the kind of GPU that the step was measured on; empty if it is not known
     */
    TrainingProgress running(
            JobId job, DomainId domain, StepReport report, int nodes, Optional<KindId> kind, Instant now) {
        var progress = new TrainingProgress(
                job,
                domain,
                now,
                JobPhase.RUNNING,
                report.progress(),
                Optional.of(report.totalProgress()).filter(total -> total > 0),
                new TrainingProgress.Parallelism(
                        nodes, report.replicas(), report.localBatch(), report.accumulation() - 1),
                new TrainingProgress.StepTiming(
                        Optional.of(report.stepSeconds()).filter(seconds -> seconds > 0),
                        Optional.of(report.syncSeconds())),
                new TrainingProgress.GradientStatistics(report.gradientSquared(), report.gradientVariance()),
                kind);
        last.put(job, progress);
        return progress;
    }

    /** The final progress of a finished job, which computes no more; forgets the job. */
    TrainingProgress over(JobId job, DomainId domain, JobPhase phase, Instant now) {
        Optional<TrainingProgress> before = Optional.ofNullable(last.remove(job));
        return new TrainingProgress(
                job,
                domain,
                now,
                phase,
                before.map(TrainingProgress::progress).orElse(0.0),
                before.flatMap(TrainingProgress::totalProgress),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }
}
