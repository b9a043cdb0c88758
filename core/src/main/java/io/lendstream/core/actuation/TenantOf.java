package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.util.Optional;

/** The job or the service that an action is about; empty for actions on GPUs. */
final class TenantOf implements Action.Cases<Optional<Tenant>> {
    @Override
    public Optional<Tenant> lend(Action.Lend lend) {
        return job(lend.job());
    }

    @Override
    public Optional<Tenant> reclaim(Action.Reclaim reclaim) {
        return job(reclaim.job());
    }

    @Override
    public Optional<Tenant> resize(Action.Resize resize) {
        return job(resize.job());
    }

    @Override
    public Optional<Tenant> serve(Action.Serve serve) {
        return service(serve.service());
    }

    @Override
    public Optional<Tenant> idle(Action.Idle idle) {
        return service(idle.service());
    }

    @Override
    public Optional<Tenant> batching(Action.Batching batching) {
        return service(batching.service());
    }

    @Override
    public Optional<Tenant> repartition(Action.Repartition repartition) {
        return Optional.empty();
    }

    @Override
    public Optional<Tenant> renew(Action.Renew renew) {
        return Optional.empty();
    }

    @Override
    public Optional<Tenant> hold(Action.Hold hold) {
        return Optional.empty();
    }

    @Override
    public Optional<Tenant> adopt(Action.Adopt adopt) {
        return Optional.of(adopt.tenant());
    }

    private static Optional<Tenant> job(JobId id) {
        return Optional.of(new Tenant.Job(id));
    }

    private static Optional<Tenant> service(ServiceId id) {
        return Optional.of(new Tenant.Service(id));
    }
}
