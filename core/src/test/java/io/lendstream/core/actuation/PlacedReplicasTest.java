package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Orders for replicas of several units: they run together, and end together. */
class PlacedReplicasTest {
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final DecisionId DECISION = new DecisionId(new DomainId("d"), 1, 7);
    private static final ReplicaUnits REPLICA =
            new ReplicaUnits(ReplicaId.of(DECISION, 0), "tp2", ReplicaRole.ALL, gpus("a", "b"));
    private static final ReplicaUnits ELSEWHERE =
            new ReplicaUnits(ReplicaId.of(DECISION, 1), "wide", ReplicaRole.ALL, gpus("c", "z"));

    private final Order.Place place = new Order.Place(
            DECISION,
            CHAT,
            gpus("a", "b", "c", "d"),
            List.of(),
            Optional.empty(),
            Instant.EPOCH,
            List.of(REPLICA, ELSEWHERE),
            List.of());

    private static List<GpuId> gpus(String... names) {
        return Stream.of(names).map(GpuId::new).toList();
    }

    @Test
    void theUnitsOfAReplicaRunTogether() {
        assertThat(place.together()).containsExactly(gpus("a", "b"), gpus("c"), gpus("d"));
    }

    @Test
    void anOrderWithoutOneUnitOfAReplicaIsWithoutAll() {
        Order.Place rest = place.without(gpus("b"));

        assertThat(rest.units()).isEqualTo(gpus("c", "d"));
        assertThat(rest.replicas()).containsExactly(ELSEWHERE);
    }

    @Test
    void holdingsKnowTheReplicaOfEachUnit() {
        Holdings holdings = new Holdings();
        gpus("a", "b", "d")
                .forEach(gpu -> holdings.put(new Holding(gpu, CHAT, Holding.Phase.BINDING, Optional.empty())));

        holdings.join(List.of(REPLICA));
        holdings.put(holdings.of(new GpuId("a")).orElseThrow().in(Holding.Phase.BOUND));

        assertThat(holdings.replicas(gpus("a", "d"))).containsExactly(REPLICA);
        assertThat(holdings.replicas(gpus("d"))).isEmpty();
    }

    @Test
    void replicasFollowAnExchangeOfNames() {
        ReplicaUnits other = new ReplicaUnits(ReplicaId.of(DECISION, 2), "tp2", ReplicaRole.ALL, gpus("d", "e"));
        Holdings holdings = new Holdings();
        gpus("a", "b", "d", "e")
                .forEach(gpu -> holdings.put(new Holding(gpu, CHAT, Holding.Phase.BOUND, Optional.empty())));
        holdings.join(List.of(REPLICA, other));

        holdings.exchange(new GpuId("b"), new GpuId("d"));
        assertThat(holdings.replicas(gpus("a")).get(0).units()).isEqualTo(gpus("a", "d"));
        assertThat(holdings.replicas(gpus("d")).get(0).units()).isEqualTo(gpus("a", "d"));
        assertThat(holdings.replicas(gpus("b", "e"))).singleElement().satisfies(replica -> {
            assertThat(replica.replica()).isEqualTo(other.replica());
            assertThat(replica.units()).isEqualTo(gpus("b", "e"));
        });

        holdings.exchange(new GpuId("b"), new GpuId("f"));
        assertThat(holdings.replicas(gpus("e", "f")))
                .singleElement()
                .satisfies(replica -> assertThat(replica.units()).isEqualTo(gpus("e", "f")));
    }
}
