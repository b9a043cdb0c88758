package io.lendstream.core.actuation;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The jobs and services that domains have declared. */
final class DeclaredTenants {
    private final Map<InDomain<JobId>, TrainingJob> jobs = new HashMap<>();
    private final Map<InDomain<ServiceId>, InferenceService> services = new HashMap<>();
    /** The times to start from cache of services whose replicas have one GPU. */
    private final Map<InDomain<ServiceId>, Duration> cachedStarts = new HashMap<>();

    void know(TrainingJob job) {
        jobs.put(new InDomain<>(job.domain(), job.job()), job);
    }

    void know(InferenceService service) {
        InDomain<ServiceId> name = new InDomain<>(service.domain(), service.service());
        services.put(name, service.plain());
        service.singleStarts()
                .flatMap(StartTimes::cached)
                .ifPresentOrElse(time -> cachedStarts.put(name, time), () -> cachedStarts.remove(name));
    }

    void forget(DomainId domain, JobId job) {
        jobs.remove(new InDomain<>(domain, job));
    }

    void forget(DomainId domain, ServiceId service) {
        services.remove(new InDomain<>(domain, service));
        cachedStarts.remove(new InDomain<>(domain, service));
    }

    /** The submission of a tenant if it is a job that is known. */
    Optional<TrainingJob> job(DomainId domain, Tenant tenant) {
        return tenant.jobId().flatMap(job -> Optional.ofNullable(jobs.get(new InDomain<>(domain, job))));
    }

    /** The spec of a tenant if it is a service that is known. */
    Optional<InferenceService> service(DomainId domain, Tenant tenant) {
        return tenant.serviceId()
                .flatMap(service -> Optional.ofNullable(services.get(new InDomain<>(domain, service))));
    }

    /** How long a replica of one GPU takes to start from cache, if its service declares that. */
    Optional<Duration> cachedStart(DomainId domain, Tenant tenant) {
        return tenant.serviceId()
                .flatMap(service -> Optional.ofNullable(cachedStarts.get(new InDomain<>(domain, service))));
    }
}
