package io.lendstream.core.state;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import java.util.Optional;

/**
 * The work done by a job, by its own reports.
 *
 * @param progress work done, in iterations at the initial batch
 * @param totalProgress the total work, once the job has reported it
 */
public record JobWork(JobPhase phase, double progress, Optional<Double> totalProgress) {
    static final JobWork NONE = new JobWork(JobPhase.QUEUED, 0, Optional.empty());

    JobWork after(TrainingProgress report) {
        return new JobWork(
                report.phase() == JobPhase.UNKNOWN ? phase : report.phase(),
                Math.max(progress, report.progress()),
                report.totalProgress().or(() -> totalProgress));
    }
}
