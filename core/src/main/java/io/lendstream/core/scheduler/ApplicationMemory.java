package io.lendstream.core.scheduler;

import io.lendstream.core.state.ApplicationPrior;
import io.lendstream.core.state.ApplicationTraits;
import io.lendstream.core.state.Applications;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.LearnedTraits;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What ended jobs taught about their applications. It stays when they are forgotten, and is the prior of later jobs
 * without a profile for which no job of the state has one.
 *
 * <p>Each change costs the logarithm of the number of applications, and only jobs that come or are forgotten make one.
 */
final class ApplicationMemory {
    /** The most applications of a domain that are remembered. Those not used for the longest time go first. */
    static final int MOST = 1_000;

    private final StepBuilder builder;
    private final MeasurementRules rules;

    ApplicationMemory(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.rules = settings.measurements();
    }

    /** A job with a prior, if it needs one: of another job in the state, else of the memory, else usual traits. */
    JobState given(JobState job) {
        if (!ApplicationPrior.isNeededBy(job)) {
            return job;
        }
        Optional<LearnedTraits> known = ApplicationPrior.of(job, builder.jobs().values());
        return ApplicationPrior.given(job, known.or(() -> used(job.spec().application())));
    }

    private Optional<LearnedTraits> used(String application) {
        Optional<ApplicationTraits> kept =
                builder.entities().applications().find(application).filter(known -> !isOver(known.usedAt()));
        kept.ifPresent(known -> put(known.usedAt(builder.now())));
        return kept.map(ApplicationTraits::learned);
    }

    /**
     * Keeps what a job taught that is about to be forgotten. It replaces what rests on less, or was measured so long
     * ago that the application may have changed since.
     */
    void keep(JobState ended) {
        if (!rules.remembers()) {
            return;
        }
        ApplicationTraits.of(ended, builder.now()).ifPresent(taught -> {
            Optional<ApplicationTraits> better = builder.entities()
                    .applications()
                    .find(taught.application())
                    .filter(known -> known.isBetterThan(taught) && !isOver(known.measuredAt()));
            put(better.map(known -> known.usedAt(builder.now())).orElse(taught));
        });
    }

    /** Drops what was not used for the time of the setting; all if it is off. */
    void expire() {
        Applications all = builder.entities().applications();
        for (String name : Deadlines.until(all.byUse(), builder.now().minus(rules.rememberProfiles()))) {
            builder.put(builder.entities().applications().without(name), Set.of(name));
        }
    }

    private boolean isOver(Instant time) {
        return !time.isAfter(builder.now().minus(rules.rememberProfiles()));
    }

    private void put(ApplicationTraits next) {
        Applications all = builder.entities().applications().with(next);
        Set<String> changed = new TreeSet<>(Set.of(next.application()));
        while (all.size() > MOST) {
            String oldest = all.byUse().values().iterator().next();
            all = all.without(oldest);
            changed.add(oldest);
        }
        builder.put(all, changed);
    }
}
