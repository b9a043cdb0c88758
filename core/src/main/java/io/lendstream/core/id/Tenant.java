package io.lendstream.core.id;

/** Who uses a GPU: a training job or an inference service. */
public sealed interface Tenant {
    /** A training job. */
    record Job(JobId job) implements Tenant {
        @Override
        public String toString() {
            return "job " + job;
        }
    }

    /** A replica of an inference service. */
    record Service(ServiceId service) implements Tenant {
        @Override
        public String toString() {
            return "service " + service;
        }
    }
}
