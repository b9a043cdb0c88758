package io.lendstream.actuator.driver;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.util.Optional;

/** What is known of jobs and GPUs when an order is taken. */
public interface ClusterLookup {
    /** Where nothing is known. */
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

    /** What the inventory of its node says of a GPU or a MIG instance; empty where none has come. */
    Optional<Device> device(GpuId unit);
}
