package io.lendstream.actuator.driver;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.util.Optional;

/** Declarations of jobs and GPUs at the time of an order. */
public interface ClusterLookup {
    /** A lookup without any declarations. */
    ClusterLookup NOTHING = new ClusterLookup() {
        @Override
        public Optional<TrainingJob> job(JobId job) {
            return Optional.empty();
        }

        @Override
        public Optional<Device> device(GpuId unit) {
            return Optional.empty();
        }
    };

    Optional<TrainingJob> job(JobId job);

    /** The inventory entry of a GPU or a MIG instance; empty if there is none. */
    Optional<Device> device(GpuId unit);

    /** The node of a GPU or a MIG instance, also one of another actuator; empty if it is not in the inventory. */
    default Optional<Node> node(GpuId unit) {
        return Optional.empty();
    }
}
