package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an actuator knows of nodes, also of those of others. */
class InventoryTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final Inventory inventory = new Inventory(job -> Optional.of(DOMAIN));
    private final Actuation actuation = new Actuation(
            "a", Duration.ofSeconds(45), new Driven(DriverKind.PROCESS, false, Abilities.USUAL, (known, told) -> {
                throw new AssertionError("no driver is made here");
            }));

    private void declare(String name) {
        Gpu gpu = new Gpu(
                new GpuId("GPU-" + name),
                3,
                "NVIDIA T4",
                16L << 30,
                Optional.empty(),
                false,
                List.of(),
                false,
                List.of());
        Node node = new Node(new NodeId(name), DOMAIN, Pool.TRAINING, "boot", NOON, NodeStatus.READY, List.of(gpu));
        inventory.know(node, any -> true);
        actuation.know(node);
    }

    @Test
    void aUnitIsOnItsNodeWhoeverHasIt() {
        declare("n1");

        assertThat(inventory.node(new GpuId("GPU-n1")).map(Node::nodeId)).contains(new NodeId("n1"));
        assertThat(inventory.node(new GpuId("GPU-n2"))).isEmpty();
    }

    @Test
    void withoutABrokerTheOtherMachinesOfAJobAreStillKnown() {
        actuation.keepTo(List.of(new NodeId("n1")));
        List.of("n1", "n2", "n3").forEach(this::declare);
        List<GpuId> both = List.of(new GpuId("GPU-n1"), new GpuId("GPU-n2"));
        actuation.take(
                new Decision(
                        new DecisionId(DOMAIN, 1, 1),
                        NOON,
                        NOON.plusSeconds(60),
                        false,
                        new Reason("test", "", Map.of(), List.of()),
                        new Action.Resize(new JobId("job"), both, new Allocation(both, 8, 0, 1, Mechanism.RESTART))),
                NOON);

        assertThat(actuation.holdings()).hasSize(1);
        assertThat(inventory.concerning(actuation).nodes())
                .extracting(Node::nodeId)
                .containsExactly(new NodeId("n1"), new NodeId("n2"));
    }
}
