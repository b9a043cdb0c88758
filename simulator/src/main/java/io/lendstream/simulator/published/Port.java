package io.lendstream.simulator.published;

import io.lendstream.core.policy.Policy;
import io.lendstream.simulator.workload.PolluxApplication;

/** What the published simulators do differently for one policy and another, besides asking it for a plan. */
enum Port {
    /** Jobs keep their owner's batch. */
    GIVEN_BATCH,
    /**
     * As {@link #GIVEN_BATCH}; jobs get no more GPUs than leave each its smallest batch, and after a plan they lose
     * those on nodes of the second half that had a replica in use.
     */
    OPTIMUS,
    /** The simulator tunes batches to the goodput that is known; jobs grow to 64 GPUs at most. */
    TUNED_BATCH,
    /** As {@link #TUNED_BATCH}; a sleeping replica whose GPU a plan takes is forgotten and leaves no ghost. */
    POLLUX;

    static Port of(Policy policy) {
        String name = policy.info().name();
        if (name.equals("optimus")) {
            return OPTIMUS;
        }
        if (name.equals("pollux")) {
            return POLLUX;
        }
        return policy.info().elastic() && !policy.info().needsDurations() ? TUNED_BATCH : GIVEN_BATCH;
    }

    boolean tunesBatch() {
        return this == TUNED_BATCH || this == POLLUX;
    }

    /** Most GPUs that a job may be given, of {@code all}. */
    int largest(PublishedWorkload.Row row, PolluxApplication application, int all) {
        return switch (this) {
            case GIVEN_BATCH -> all;
            case OPTIMUS ->
                application.onlyOneGpu() ? 1 : row.batch() / application.batch().localMin();
            case TUNED_BATCH, POLLUX -> application.maxGpus();
        };
    }
}
