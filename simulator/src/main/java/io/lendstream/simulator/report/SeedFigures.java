package io.lendstream.simulator.report;

import io.lendstream.simulator.report.ReportedRun.Training;
import java.util.Optional;

/**
 * The figures of one run with one seed; empty where they are not known.
 *
 * @param jobs training jobs
 * @param completedJobs those of them that completed
 * @param jctSeconds average job completion time; empty unless all jobs completed
 * @param gain reduction of it against the baseline of the same seed, a fraction
 * @param shareOfGain share of the possible gain, that of the oracle of the same seed
 * @param misses requests beyond their SLO, a fraction
 */
public record SeedFigures(
        long seed,
        int jobs,
        int completedJobs,
        Optional<Double> jctSeconds,
        Optional<Double> gain,
        Optional<Double> shareOfGain,
        Optional<Double> misses,
        double gpuHoursLent) {

    /** The figures of a run, with its gain over the references of the same seed where these were played. */
    public static SeedFigures of(long seed, ReportedRun run, Optional<Double> gain, Optional<Double> shareOfGain) {
        Training training = run.training();
        return new SeedFigures(
                seed,
                training.submitted(),
                training.completed(),
                training.completed() == training.submitted() ? training.meanSeconds() : Optional.empty(),
                gain,
                shareOfGain,
                run.inference().missShare(),
                run.loans().gpuHours());
    }

    /** Whether a job did not complete, so that averages are not of the same jobs as with other seeds. */
    boolean isUnfinished() {
        return completedJobs < jobs;
    }
}
