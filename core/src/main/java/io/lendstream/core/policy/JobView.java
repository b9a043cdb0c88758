package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A policy's view of a job. */
public interface JobView {
    JobId job();

    Instant submittedAt();

    /** The GPUs that its owner asked for. */
    int requestedGpus();

    /** Least it can run on; at least 1. */
    int minGpus();

    /** The most GPUs that it can use, by its owner's declaration and its batch sizes. */
    int maxGpus();

    /** Whether its number of GPUs may change while it runs. */
    boolean elastic();

    /** GPUs that it holds or is about to; none where it trains on a MIG instance while it waits for them. */
    List<GpuId> gpus();

    /** Whether it trains on a MIG instance, or is about to. */
    default boolean onInstance() {
        return false;
    }

    /** Most GPUs it has trained on so far. */
    int largestRun();

    /** How often its GPUs were changed after its first start. */
    int changes();

    /** GPU time given to it so far. */
    double attainedGpuSeconds();

    /** As known from its runs; nothing before anything is known. */
    Optional<Goodput> goodput();

    /**
     * The goodput that speeds are compared with: its own, or, where kinds of GPU are chosen, the mean over the GPUs of
     * all kinds that it may use.
     */
    default Optional<Goodput> usualGoodput() {
        return goodput();
    }

    /** How long it will take. */
    Pace pace();

    /**
     * False if only a usual profile is assumed for its speed: its owner declares none, and neither it nor another job
     * of its application has reported steps.
     */
    default boolean isSpeedKnown() {
        return true;
    }

    /** Where it stands with a policy that serves jobs in queues; none before its first plan. */
    Optional<QueuePosition> standing();

    /** How long it does not train when its GPUs change. */
    RescaleCosts costs();

    /**
     * The measured time that one change of its GPUs costs it; empty if none is measured, or costs are not learned. A
     * policy with a published constant for it uses this one instead.
     */
    default Optional<Duration> measuredChange() {
        return Optional.empty();
    }

    /** When its owner needs it done, if there is such a time. Jobs that were refused are in no view. */
    default Optional<Deadline> deadline() {
        return Optional.empty();
    }

    default Duration age(Instant now) {
        Duration age = Duration.between(submittedAt(), now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /** Fewest GPUs that it starts with. */
    default int least() {
        return elastic() ? minGpus() : requestedGpus();
    }

    /** Most GPUs that it may be given. */
    default int most() {
        return elastic() ? maxGpus() : requestedGpus();
    }

    /** Whether its shape leaves out numbers of GPUs, or has rules about nodes. */
    default boolean isShaped() {
        return false;
    }

    /** Whether its shape allows a number of GPUs, of a job in a shape also its range. 0 is always allowed. */
    default boolean allows(int gpus) {
        return true;
    }

    /** The smallest number above this one that its shape allows; {@link ShapedJob#NO_SIZE} if there is none. */
    default int next(int gpus) {
        return gpus + 1;
    }

    /** The largest number of at most so many GPUs that its shape allows; 0 if there is none. */
    default int fit(int gpus) {
        return gpus;
    }

    /** The rules about the nodes of its GPUs, if there are any. */
    default Optional<JobSite> site() {
        return Optional.empty();
    }
}
