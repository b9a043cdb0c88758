package io.lendstream.simulator.report;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.JobId;
import io.lendstream.simulator.report.ReportedRun.Training;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** How training jobs got on in the course of a run. */
final class JobsWatch {
    private final Map<JobId, Instant> submitted = new HashMap<>();
    private final Map<JobId, Instant> finished = new HashMap<>();
    private final Set<JobId> started = new HashSet<>();
    private int restarts;

    void take(TrainingJob job) {
        submitted.putIfAbsent(job.job(), job.submittedAt());
    }

    void take(TrainingProgress progress) {
        if (progress.phase() == JobPhase.FINISHED) {
            finished.putIfAbsent(progress.job(), progress.at());
        }
    }

    void take(JobChange change) {
        Allocation allocation = change.allocation();
        if (!allocation.gpus().isEmpty() && !started.add(change.job()) && allocation.mechanism() == Mechanism.RESTART) {
            restarts++;
        }
    }

    Training facts() {
        List<Double> seconds = new ArrayList<>();
        finished.forEach((job, at) -> Optional.ofNullable(submitted.get(job))
                .ifPresent(since -> seconds.add(Duration.between(since, at).toMillis() / 1000.0)));
        return new Training(
                submitted.size(),
                finished.size(),
                seconds,
                started.isEmpty() ? Optional.empty() : Optional.of(restarts),
                Optional.empty());
    }
}
