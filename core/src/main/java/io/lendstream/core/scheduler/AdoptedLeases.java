package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.List;

/** Keeps the loans of jobs that were taken over as they ran, also where decisions are only advice. */
record AdoptedLeases(StepBuilder builder, SchedulerSettings settings) {
    /** Renews those that are due, unless lending is stopped. */
    void renew() {
        if (builder.mode().lendingStopped()
                || takenOver(settings.lease().dividedBy(2)).isEmpty()) {
            return;
        }
        builder.binding(true);
        new Deadlines(builder, settings)
                .renewAll(takenOver(settings.lease().multipliedBy(3).dividedBy(4)));
        builder.binding(!builder.mode().isAdvisory());
    }

    private List<GpuId> takenOver(Duration within) {
        TrustReturns trust = new TrustReturns(builder, settings);
        return new Deadlines(builder, settings)
                .lent(within).stream()
                        .filter(id -> trust.isTakenOver(builder.gpu(id)))
                        .toList();
    }
}
