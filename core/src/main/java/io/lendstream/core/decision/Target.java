package io.lendstream.core.decision;

import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;

/** The name of the job, service or queue of an action. */
final class Target implements Action.Cases<String> {
    @Override
    public String lend(Action.Lend lend) {
        return lend.job().value();
    }

    @Override
    public String reclaim(Action.Reclaim reclaim) {
        return reclaim.job().value();
    }

    @Override
    public String resize(Action.Resize resize) {
        return resize.job().value();
    }

    @Override
    public String serve(Action.Serve serve) {
        return serve.service().value();
    }

    @Override
    public String idle(Action.Idle idle) {
        return idle.service().value();
    }

    @Override
    public String batching(Action.Batching batching) {
        return batching.service().value();
    }

    @Override
    public String repartition(Action.Repartition repartition) {
        return "";
    }

    @Override
    public String renew(Action.Renew renew) {
        return "";
    }

    @Override
    public String hold(Action.Hold hold) {
        return hold.job()
                .map(JobId::value)
                .or(() -> hold.service().map(ServiceId::value))
                .or(() -> hold.queue().map(QueueId::value))
                .orElse("");
    }

    @Override
    public String adopt(Action.Adopt adopt) {
        return adopt.tenant()
                .match(Tenant.Cases.of(
                        job -> job.job().value(), service -> service.service().value()));
    }
}
