package io.lendstream.simulator.results;

import io.lendstream.core.event.Limits;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.report.Delays;
import io.lendstream.simulator.report.QueueWait;
import io.lendstream.simulator.report.ReportedRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Makes the facts of a report from a run whose true figures are known. */
public final class RunFactsOf {
    private static final int BODY_POINTS = 90;
    private static final double FINEST_TAIL = 1e-4;
    private static final double TAIL_RATIO = 1.15;

    private RunFactsOf() {}

    /** A run that was not observed: its figures alone. */
    public static ReportedRun figures(RunOutcome outcome) {
        return ReportedRun.ofFigures(
                outcome.run().title(),
                outcome.run().lending(),
                training(outcome),
                inference(Summary.of(outcome)),
                outcome.complete());
    }

    /** A run as it was observed, with the true figures of its world. */
    public static ReportedRun run(ReportedRun seen, RunOutcome outcome) {
        Summary summary = Summary.of(outcome);
        return seen.withTruth(training(outcome), inference(summary), outcome.complete())
                .withGpuHoursLent(summary.lending().gpuHours());
    }

    static ReportedRun.Training training(RunOutcome outcome) {
        List<JobResult> jobs = outcome.results().jobs();
        List<Double> completions = jobs.stream()
                .flatMap(job -> job.completionTime().stream())
                .map(time -> Limits.millis(time) / 1000.0)
                .toList();
        return new ReportedRun.Training(
                jobs.size(),
                completions.size(),
                completions,
                Optional.of(jobs.stream()
                        .mapToInt(job -> job.restarts() - job.inPlace())
                        .sum()),
                Optional.of(jobs.stream().mapToInt(JobResult::inPlace).sum()),
                jobs.stream()
                        .flatMap(job -> job.firstWait().stream())
                        .max(Duration::compareTo)
                        .map(wait -> Limits.millis(wait) / 1000.0),
                Summary.deadlines(outcome.results()),
                Optional.of(outcome.results().gpuUtilization()),
                outcome.waitsByQueue().entrySet().stream()
                        .map(RunFactsOf::queueWait)
                        .toList());
    }

    private static QueueWait queueWait(Map.Entry<String, Distribution> queue) {
        return new QueueWait(
                queue.getKey(),
                Math.round(queue.getValue().count()),
                queue.getValue().max());
    }

    private static ReportedRun.Inference inference(Summary summary) {
        return new ReportedRun.Inference(
                summary.requests().offered(),
                Optional.of(summary.requests().coldStarts()),
                delays(summary.requests().startDelaySeconds()),
                delays(summary.requests().overheadSeconds()),
                summary.requests().sloAttainment(),
                summary.requests().services(),
                Optional.of(summary.requests().own()));
    }

    static Optional<Delays> delays(Distribution sample) {
        if (sample.count() == 0) {
            return Optional.empty();
        }
        List<Delays.CurvePoint> curve = new ArrayList<>();
        for (int i = 0; i < BODY_POINTS; i++) {
            curve.add(new Delays.CurvePoint(sample.quantile(i / 100.0), i / 100.0));
        }
        for (double tail = 1 - BODY_POINTS / 100.0; tail >= FINEST_TAIL; tail /= TAIL_RATIO) {
            curve.add(new Delays.CurvePoint(sample.quantile(1 - tail), 1 - tail));
        }
        curve.add(new Delays.CurvePoint(sample.max(), 1));
        return Optional.of(new Delays(sample.mean(), sample.quantile(.99), sample.max(), curve));
    }
}
