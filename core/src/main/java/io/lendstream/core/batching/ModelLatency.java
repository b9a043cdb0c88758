package io.lendstream.core.batching;

import io.lendstream.core.mig.MigProfile;
import java.util.Optional;

/** The known or learned times of a model's batches on the instances of a kind of GPU. */
public interface ModelLatency {
    /** Of a model of which nothing is known. */
    ModelLatency UNKNOWN = new ModelLatency() {
        @Override
        public Optional<BatchLatency> on(MigProfile profile, int size) {
            return Optional.empty();
        }

        @Override
        public int largestSize() {
            return 1;
        }
    };

    /**
     * On an instance, with inputs of a size.
     *
     * @param size to which inputs are padded, at least 1, at most {@link #largestSize}
     * @return empty where not even one input fits the instance's memory, or nothing is known
     */
    Optional<BatchLatency> on(MigProfile profile, int size);

    /** The largest input that the model takes; 1 for models whose inputs are all alike. */
    int largestSize();

    /** The same with every batch longer by a factor, as a margin for unknowns. */
    default ModelLatency times(double factor) {
        ModelLatency plain = this;
        return new ModelLatency() {
            @Override
            public Optional<BatchLatency> on(MigProfile profile, int size) {
                return plain.on(profile, size).map(latency -> latency.times(factor));
            }

            @Override
            public int largestSize() {
                return plain.largestSize();
            }
        };
    }
}
