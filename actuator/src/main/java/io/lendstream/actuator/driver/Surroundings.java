package io.lendstream.actuator.driver;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.event.TrainingJob;
import java.util.Optional;

/** What is known of jobs and GPUs when an order is taken. */
public interface Surroundings {
    /** Where nothing is known. */
    Surroundings NOTHING = new Surroundings() {
        @Override
        public Optional<TrainingJob> job(JobId job) {
            return Optional.empty();
        }

        @Override
        public Optional<Integer> index(GpuId gpu) {
            return Optional.empty();
        }
    };

    Optional<TrainingJob> job(JobId job);

    /** A whole GPU's number on its node; empty for MIG instances and for GPUs that are not known. */
    Optional<Integer> index(GpuId gpu);
}
