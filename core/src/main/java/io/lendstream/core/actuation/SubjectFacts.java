package io.lendstream.core.actuation;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds what an actuator knows about the subjects of orders. */
record SubjectFacts(ActuationState state) {
    OrderSubject of(Order order) {
        if (order instanceof Order.Place place) {
            return of(place);
        }
        return order instanceof Order.Cut cut
                ? new OrderSubject(
                        Optional.empty(), Optional.empty(), state.inventory().cuttable(cut.gpu()))
                : OrderSubject.NOTHING;
    }

    private OrderSubject of(Order.Place place) {
        DomainId domain = place.decision().domain();
        Tenant tenant = place.tenant();
        Optional<InferenceService> service = state.tenants().service(domain, tenant);
        Map<GpuId, KindId> kinds = new HashMap<>();
        if (service.filter(spec -> spec.hasGroups() || !spec.takesKindsAsAlike())
                .isPresent()) {
            place.units().forEach(unit -> state.inventory().kind(unit).ifPresent(kind -> kinds.put(unit, kind)));
        }
        Optional<Duration> cachedStart = state.tenants().cachedStart(domain, tenant);
        boolean mayBeCached = cachedStart.isPresent()
                || service.filter(spec -> spec.hardware().startsFromCache()).isPresent();
        return new OrderSubject(
                state.tenants().job(domain, tenant),
                service,
                Optional.empty(),
                kinds,
                mayBeCached ? besideReplicas(place) : Set.of(),
                cachedStart);
    }

    /** The units of an order on nodes where its tenant runs already. */
    private Set<GpuId> besideReplicas(Order.Place place) {
        Set<NodeId> nodes = new HashSet<>();
        for (GpuId unit : state.held(place.tenant())) {
            if (state.isBound(place.tenant(), unit)) {
                state.inventory().nodeOf(unit).ifPresent(nodes::add);
            }
        }
        Set<GpuId> beside = new HashSet<>();
        for (GpuId unit : place.units()) {
            state.inventory().nodeOf(unit).filter(nodes::contains).ifPresent(node -> beside.add(unit));
        }
        return beside;
    }
}
