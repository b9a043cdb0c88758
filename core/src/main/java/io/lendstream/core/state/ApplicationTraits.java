package io.lendstream.core.state;

import io.lendstream.core.id.JobId;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;

/**
 * What an ended job taught about its application. It stays when the job is forgotten.
 *
 * @param application its name
 * @param learned the traits with which the next job starts, without the measured steps that led to them
 * @param job the job that taught them
 * @param measured number of measured steps behind them; 0 if they are only declared
 * @param lastEvent the last event about this job
 * @param measuredAt when this job last reported; if it never did, when it was submitted
 * @param usedAt when a job of the application was last forgotten, or last started with these traits
 */
public record ApplicationTraits(
        String application,
        @Flat LearnedTraits learned,
        JobId job,
        int measured,
        long lastEvent,
        Instant measuredAt,
        Instant usedAt) {
    private static final Comparator<ApplicationTraits> BEST = Comparator.comparingInt(ApplicationTraits::measured)
            .thenComparingLong(ApplicationTraits::lastEvent)
            .thenComparing(ApplicationTraits::job);

    /** What a job taught; empty if nothing is known of its speed. */
    public static Optional<ApplicationTraits> of(JobState job, Instant now) {
        return job.isSpeedUnknown()
                ? Optional.empty()
                : Optional.of(new ApplicationTraits(
                        job.spec().application(),
                        ApplicationPrior.taughtBy(job),
                        job.spec().job(),
                        job.learned().speed().measured().size(),
                        job.lastEvent(),
                        job.lastProgressAt().orElse(job.spec().submittedAt()),
                        now));
    }

    /** Whether these traits rest on more than others, by the order of {@link ApplicationPrior}. */
    public boolean isBetterThan(ApplicationTraits other) {
        return BEST.compare(this, other) > 0;
    }

    /** The same after a use. */
    public ApplicationTraits usedAt(Instant time) {
        return new ApplicationTraits(application, learned, job, measured, lastEvent, measuredAt, time);
    }

    DueKey<String> use() {
        return new DueKey<>(usedAt, application);
    }
}
