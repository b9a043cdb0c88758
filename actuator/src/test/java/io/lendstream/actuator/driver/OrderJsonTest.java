package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OrderJsonTest {
    private static final List<GpuId> GPUS = List.of(new GpuId("g1"));

    private static String json(List<GpuId> units, Allocation allocation) {
        return OrderJson.of(new Order.Place(
                new DecisionId(new DomainId("d"), 1, 1),
                new Tenant.Job(new JobId("bert")),
                units,
                List.of(),
                Optional.of(allocation),
                Instant.parse("2026-01-01T12:00:45Z")));
    }

    @Test
    void anOrderHasTheHostOfItsJob() {
        Allocation plain = new Allocation(GPUS, 16, 0, 1, Mechanism.RESTART);
        Allocation hosted =
                new Allocation(GPUS, 16, 0, 1, Mechanism.RESTART, Optional.of(new HostShare(4000, 1L << 30)));

        assertThat(json(GPUS, plain)).doesNotContain("host");
        assertThat(json(GPUS, hosted))
                .contains("\"mechanism\":\"restart\",\"host\":{\"cpuMillis\":4000,\"memoryBytes\":1073741824}");
    }

    @Test
    void anOrderNamesAllUnitsOfAJobThatHasOthersElsewhere() {
        Allocation spread = new Allocation(List.of(new GpuId("g1"), new GpuId("other")), 16, 0, 1, Mechanism.RESTART);

        assertThat(json(GPUS, spread)).contains("\"mechanism\":\"restart\",\"units\":[\"g1\",\"other\"]}");
        assertThat(json(List.of(), spread)).as("it leaves").doesNotContain("other");
    }

    @Test
    void aPauseIsAPlaceWithoutUnits() {
        assertThat(json(List.of(), Allocation.suspended(Mechanism.PAUSE)))
                .contains("\"units\":[]")
                .contains("\"mechanism\":\"pause\"");
    }
}
