package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Orders about a job and a service. */
final class Orders {
    static final Tenant.Job JOB = new Tenant.Job(new JobId("job"));
    static final Tenant.Service CHAT = new Tenant.Service(new ServiceId("chat"));
    static final Instant BY = Instant.parse("2026-01-01T12:00:00Z");

    private Orders() {}

    static DecisionId decision(long sequence) {
        return new DecisionId(new DomainId("d"), 1, sequence);
    }

    static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    static Order.Place place(long sequence, Tenant tenant, List<GpuId> units, List<GpuId> leaving) {
        Optional<Allocation> allocation = tenant instanceof Tenant.Job
                ? Optional.of(new Allocation(units, 16, 0, 1, Mechanism.AFE))
                : Optional.empty();
        return new Order.Place(decision(sequence), tenant, units, leaving, allocation, BY);
    }
}
