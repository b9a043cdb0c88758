package io.lendstream.core.repartition;

import java.time.Duration;

/**
 * A step of a transition. Steps of the same stage may run at once and in any order; a stage begins when the one before
 * it has ended.
 */
public sealed interface RepartitionStep {
    /** From 0 on. */
    int stage();

    Instance instance();

    /** How long it takes. */
    Duration takes(RepartitionTimes times);

    /** Makes the GPU instance, at its explicit start. */
    record Create(int stage, Instance instance) implements RepartitionStep {
        @Override
        public Duration takes(RepartitionTimes times) {
            return times.create();
        }
    }

    /** Loads the model. Afterwards the instance takes its part of the requests. */
    record Warm(int stage, Instance instance) implements RepartitionStep {
        @Override
        public Duration takes(RepartitionTimes times) {
            return times.load(instance.service());
        }
    }

    /** Gives the instance no more requests, and waits for those that it has. */
    record Drain(int stage, Instance instance) implements RepartitionStep {
        @Override
        public Duration takes(RepartitionTimes times) {
            return times.drain(instance.service());
        }
    }

    /** Removes the GPU instance. */
    record Destroy(int stage, Instance instance) implements RepartitionStep {
        @Override
        public Duration takes(RepartitionTimes times) {
            return times.destroy();
        }
    }
}
