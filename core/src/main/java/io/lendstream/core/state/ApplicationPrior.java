package io.lendstream.core.state;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindSpeed;
import io.lendstream.core.goodput.LearnedSpeed;
import io.lendstream.core.goodput.StepObservation;
import io.lendstream.core.goodput.ThroughputParameters;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The traits with which a job without a profile starts: those of another job of its application, or else usual ones.
 * Noise and costs that its owner declares stay as they are.
 */
public final class ApplicationPrior {
    private static final Comparator<JobState> BEST = Comparator.<JobState>comparingInt(
                    job -> job.learned().speed().measured().size())
            .thenComparingLong(JobState::lastEvent)
            .thenComparing(job -> job.spec().job());

    private ApplicationPrior() {}

    /** Whether the owner of a job declares no profile. */
    public static boolean isMeantFor(TrainingJob spec) {
        return spec.traits().profile().throughput().equals(ThroughputParameters.UNKNOWN);
    }

    /** Whether a job needs a prior: its owner declares no profile, and nothing else has taken its place yet. */
    public static boolean isNeededBy(JobState job) {
        return job.learned().speed().equals(LearnedSpeed.declared(ThroughputParameters.UNKNOWN));
    }

    /**
     * What the best of other jobs of the same application taught; empty if none knows its speed.
     *
     * @param others the jobs of the domain; those of other applications do not count
     */
    public static Optional<LearnedTraits> of(JobState job, Iterable<JobState> others) {
        JobState best = null;
        for (JobState other : others) {
            boolean isKnown = other.spec().application().equals(job.spec().application())
                    && !other.spec().job().equals(job.spec().job())
                    && !isUnknown(other.spec(), other.learned());
            if (isKnown && (best == null || BEST.compare(other, best) > 0)) {
                best = other;
            }
        }
        return best == null ? Optional.empty() : Optional.of(taughtBy(best));
    }

    /**
     * A job that needs a prior with one.
     *
     * @param taught by another job of its application; empty for usual traits
     */
    public static JobState given(JobState job, Optional<LearnedTraits> taught) {
        return job.with(taught.map(prior -> with(job.learned(), prior)).orElseGet(() -> usual(job)));
    }

    private static LearnedTraits usual(JobState job) {
        LearnedTraits known = job.learned();
        return new LearnedTraits(
                LearnedSpeed.declared(usual(job.spec())),
                known.noise(),
                known.costs(),
                known.speedKind(),
                known.byKind());
    }

    private static LearnedTraits with(LearnedTraits own, LearnedTraits prior) {
        return new LearnedTraits(
                prior.speed(),
                own.noise().equals(GradientNoise.NONE) ? prior.noise() : own.noise(),
                own.costs().equals(RescaleCosts.UNMEASURED) ? prior.costs() : own.costs(),
                prior.speedKind(),
                prior.byKind());
    }

    /** What a job taught: its traits, as if they were declared. */
    static LearnedTraits taughtBy(JobState job) {
        LearnedTraits known = job.learned();
        return new LearnedTraits(
                LearnedSpeed.declared(known.speed().parameters()),
                known.noise(),
                known.costs(),
                known.speedKind().or(() -> job.spec().kindNeeds().profileKind()),
                known.byKind().stream()
                        .map(each -> new KindSpeed(
                                each.kind(), LearnedSpeed.declared(each.speed().parameters())))
                        .toList());
    }

    /**
     * The speed of a job about which nothing is known: a second a step at its initial batch on one GPU, a fifth of it
     * constant. The network takes 0.15 s on one node and 0.8 s on several. So it is near the median of the profiles
     * that Pollux published.
     *
     * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021</a>
     */
    static ThroughputParameters usual(TrainingJob spec) {
        BatchRange batch = spec.traits().batch();
        int samples = Math.max(1, Math.min(batch.initial(), batch.localMax()));
        return new ThroughputParameters(0.2, 0.8 / samples, 0.8, 0.02, 0.15, 0.03, 2);
    }

    /** Whether nothing is known of a job's speed: no profile, no earlier job, and no step. */
    static boolean isUnknown(TrainingJob spec, LearnedTraits known) {
        ThroughputParameters declared = known.speed().declared();
        return known.speed().measured().isEmpty()
                && known.byKind().isEmpty()
                && (declared.equals(ThroughputParameters.UNKNOWN) || declared.equals(usual(spec)));
    }

    /** The usual speed, made as fast as the first measured step; empty if a better prior is known. */
    static Optional<LearnedTraits> rebased(TrainingJob spec, LearnedTraits known, StepObservation step) {
        ThroughputParameters usual = usual(spec);
        if (!isUnknown(spec, known) || !known.speed().declared().equals(usual)) {
            return Optional.empty();
        }
        double expected = usual.stepSeconds(step.nodes(), step.replicas(), step.localBatch());
        return Optional.of(new LearnedTraits(
                LearnedSpeed.declared(usual.fasterBy(expected / step.stepSeconds())),
                known.noise(),
                known.costs(),
                known.speedKind(),
                List.of()));
    }
}
