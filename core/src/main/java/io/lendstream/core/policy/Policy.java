package io.lendstream.core.policy;

import io.lendstream.core.demand.Outlook;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Chooses the GPUs of each job: a pure function of its view of the cluster. Policies only propose; safety rules, change
 * limits and the state machine around them make the decisions.
 */
public interface Policy {
    PolicyInfo info();

    /** How often training is planned. */
    Duration planEvery();

    /** How soon at the latest training is planned after a job came or ended; by default with the next plan. */
    default Duration planAfterJobs() {
        return planEvery();
    }

    /**
     * The time for which a replica that demand no longer needs is protected. As in DeepBoot it is 30 s, 15 s more with
     * every hit, up to 120 s, and one second for the detection.
     *
     * @param warmHits how often in a row it was needed again while protected
     */
    default Duration protectFor(int warmHits) {
        return Duration.ofSeconds(Math.min(30 + 15L * warmHits, 120) + 1);
    }

    /** How much expected demand inference is kept ready for; by default the p99 of forecasts, if it uses them. */
    default Outlook outlook() {
        return info().looksAhead() ? Outlook.CERTAIN : Outlook.PRESENT;
    }

    /**
     * By which rule measured steps change the known speed of a job without a declared profile. A policy that weighs
     * small gains against each other needs a fine one: with errors of a quarter, more GPUs may seem to be worth it that
     * make a job slower.
     */
    default FitRule fits() {
        return FitRule.COARSE;
    }

    /** Whether a job gets the GPUs that it asked for or none, also if it could start with fewer. */
    default boolean givesAllAskedFor() {
        return false;
    }

    /** The GPUs with which a job starts: its fewest, or all that it asked for; 0 if its shape allows none. */
    default int fewest(TrainingJob job) {
        int least = job.shape().atLeast(job.scaling().least());
        int asked = givesAllAskedFor() ? job.scaling().requestedGpus() : 0;
        return Math.max(least, job.shape().atMost(asked));
    }

    /** Chooses kinds of GPU for jobs; empty if the policy does not know kinds. */
    default Optional<KindChooser> kinds() {
        return Optional.empty();
    }

    /** The GPUs that each job should hold. Jobs that the plan does not name keep what they have. */
    Plan plan(ClusterView cluster);

    /**
     * Lent GPUs to take back, those whose loss hurts training least first.
     *
     * @param count how many are needed; more may be named where a job cannot give up part of its GPUs
     */
    List<GpuId> victims(ClusterView cluster, int count);

    /**
     * The sizes that {@link #plan} weighed for a job, for {@code explain}; empty if a policy gives none. Takes longer
     * than the plan.
     */
    default List<Alternative> sizes(ClusterView cluster, JobId job) {
        return List.of();
    }

    /** The loans that {@link #victims} compared, the chosen ones first, then by score; may be empty. */
    List<Alternative> losses(ClusterView cluster, int count);

    /** The name and the settings, as they can be given again: {@code name:key=value:key=value}. */
    String spec();
}
