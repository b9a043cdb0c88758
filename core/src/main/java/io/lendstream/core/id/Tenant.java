package io.lendstream.core.id;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The user of a GPU: a training job or an inference service. */
public sealed interface Tenant {
    <T> T match(Cases<T> cases);

    /** Whether it is a training job. */
    default boolean isJob() {
        return match(TenantQuestions.IS_JOB);
    }

    /** Whether it is an inference service. */
    default boolean isService() {
        return match(TenantQuestions.IS_SERVICE);
    }

    /** The training job; empty for a service. */
    default Optional<JobId> jobId() {
        return match(TenantQuestions.JOB);
    }

    /** The inference service; empty for a job. */
    default Optional<ServiceId> serviceId() {
        return match(TenantQuestions.SERVICE);
    }

    /** A training job. */
    record Job(JobId job) implements Tenant {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.job(this);
        }

        /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Job tenant && job.equals(tenant.job);
        }

        @Override
        public int hashCode() {
            return job.hashCode();
        }

        @Override
        public String toString() {
            return "job " + job;
        }
    }

    /** A replica of an inference service. */
    record Service(ServiceId service) implements Tenant {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.service(this);
        }

        /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Service tenant && service.equals(tenant.service);
        }

        @Override
        public int hashCode() {
            return service.hashCode();
        }

        @Override
        public String toString() {
            return "service " + service;
        }
    }

    /** A new kind of tenant breaks the build until every reader handles it. */
    interface Cases<T> {
        T job(Job job);

        T service(Service service);

        /** One function for each kind. */
        static <T> Cases<T> of(Function<Job, T> ofJob, Function<Service, T> ofService) {
            return new Cases<>() {
                @Override
                public T job(Job job) {
                    return ofJob.apply(job);
                }

                @Override
                public T service(Service service) {
                    return ofService.apply(service);
                }
            };
        }
    }
}
