package io.lendstream.core.actuation;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Makes tenants of an earlier stock the tenants of their GPUs again. */
final class StockRecall {
    private final ActuationState state;

    StockRecall(ActuationState state) {
        this.state = state;
    }

    /** @param until end of the lease of a job's inference GPUs */
    void take(ActuationReport stock, Instant until) {
        Tenant tenant = stock.tenant().orElseThrow();
        List<GpuId> units = stock.gpus().stream()
                .filter(gpu -> state.holding(gpu).isEmpty())
                .filter(gpu -> state.inventory()
                        .domainOf(gpu)
                        .filter(stock.domain()::equals)
                        .isPresent())
                .toList();
        if (units.isEmpty()) {
            return;
        }
        state.startBinding(tenant, units);
        state.moveTo(Holding.Phase.BOUND, units);
        state.settle(tenant, stock.domain());
        if (tenant.isJob()) {
            List<GpuId> lent = units.stream()
                    .filter(gpu -> !state.inventory().isTraining(gpu))
                    .toList();
            state.lend(tenant, lent, new Holding.Loan(stock.decision(), until));
        }
        boolean hasGroups = state.tenants()
                .service(stock.domain(), tenant)
                .filter(InferenceService::hasGroups)
                .isPresent();
        // A stock does not say which units run together as a replica, so the driver is not asked for those.
        if (!hasGroups) {
            order(stock, tenant);
        }
    }

    private void order(ActuationReport stock, Tenant tenant) {
        Optional<Order.Place> last = state.orders().place(tenant);
        state.orders()
                .add(new Order.Place(
                        last.map(Order.Place::decision).orElse(stock.decision()),
                        tenant,
                        List.copyOf(state.active(tenant)),
                        List.of(),
                        last.flatMap(Order.Place::allocation),
                        last.map(Order.Place::by).orElse(stock.at())));
    }
}
