package io.lendstream.core.id;

import java.util.Optional;

/** What {@link Tenant} answers by its cases; made once, as it is asked in every step. */
final class TenantQuestions {
    static final Tenant.Cases<Boolean> IS_JOB = Tenant.Cases.of(job -> true, service -> false);
    static final Tenant.Cases<Boolean> IS_SERVICE = Tenant.Cases.of(job -> false, service -> true);
    static final Tenant.Cases<Optional<JobId>> JOB =
            Tenant.Cases.of(job -> Optional.of(job.job()), service -> Optional.empty());
    static final Tenant.Cases<Optional<ServiceId>> SERVICE =
            Tenant.Cases.of(job -> Optional.empty(), service -> Optional.of(service.service()));

    private TenantQuestions() {}
}
