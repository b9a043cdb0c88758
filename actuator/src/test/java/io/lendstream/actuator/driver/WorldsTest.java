package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.actuator.jobs.WorldPart;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each machine derives of a job over several. */
class WorldsTest {
    private static final RendezvousPorts PORTS = new RendezvousPorts(29500, 29999);

    private final Map<GpuId, Node> nodes = new HashMap<>();
    private final Map<GpuId, Device> devices = new HashMap<>();
    private final ClusterLookup surroundings = new ClusterLookup() {
        @Override
        public Optional<TrainingJob> job(JobId job) {
            return Optional.empty();
        }

        @Override
        public Optional<Device> device(GpuId unit) {
            return Optional.ofNullable(devices.get(unit));
        }

        @Override
        public Optional<Node> node(GpuId unit) {
            return Optional.ofNullable(nodes.get(unit));
        }
    };

    @BeforeEach
    void declare() {
        node("n1", Map.of(), "a0", "a1", "a2");
        node("n2", Map.of("lendstream.io/address", "10.0.0.2", "rack", "r1"), "b0", "b1");
    }

    private void node(String name, Map<String, String> labels, String... gpus) {
        Node node = new Node(
                        new NodeId(name),
                        new DomainId("d"),
                        Pool.TRAINING,
                        "boot",
                        Orders.BY,
                        NodeStatus.READY,
                        List.<Gpu>of())
                .with(new NodeFacts(labels));
        for (int index = 0; index < gpus.length; index++) {
            GpuId gpu = new GpuId(gpus[index]);
            nodes.put(gpu, node);
            devices.put(gpu, new Device(index, Optional.of(gpus[index]), Optional.empty()));
        }
    }

    private Worlds on(String node) {
        return new Worlds(Optional.of(new Machine(new NodeId(node), PORTS)), surroundings);
    }

    private static Order.Place order(List<GpuId> all, String... own) {
        return new Order.Place(
                Orders.decision(17),
                Orders.JOB,
                Orders.gpus(own),
                List.of(),
                Optional.of(new Allocation(all, 16, 0, 1, Mechanism.RESTART)),
                Orders.BY);
    }

    @Test
    void allMachinesOfAJobDeriveTheSameWorldEachWithItsOwnPart() throws Exception {
        List<GpuId> all = Orders.gpus("a1", "a2", "b0");

        WorldPart first = on("n1").of(order(all, "a1", "a2")).orElseThrow();
        WorldPart second = on("n2").of(order(all, "b0")).orElseThrow();

        assertThat(first.members())
                .containsExactly(new WorldPart.Member("n1", "n1", 2), new WorldPart.Member("n2", "10.0.0.2", 1))
                .isEqualTo(second.members());
        assertThat(first.port())
                .as("of the first GPU, which has index 1")
                .isEqualTo(PORTS.port(1, 17))
                .isEqualTo(second.port());
        assertThat(List.of(first.self(), second.self())).containsExactly(0, 1);
        assertThat(first.inWords()).isEqualTo("3 workers over n1, n2; rank 0 at n1:" + first.port());
        assertThat(on("n1").machines(order(all, "a1", "a2"))).isEqualTo(2);
    }

    @Test
    void aJobOfOneMachineNeedsNoOther() throws Exception {
        assertThat(on("n1").of(order(Orders.gpus("a0", "a1"), "a0", "a1"))).isEmpty();
        assertThat(on("n1").of(order(Orders.gpus("b0", "b1")))).as("it leaves").isEmpty();
        assertThat(on("n1").machines(order(Orders.gpus("a0"), "a0"))).isEqualTo(1);
        assertThat(on("n1").of(order(Orders.gpus("new"), "new")))
                .as("a GPU of this machine need not be in the inventory")
                .isEmpty();
    }

    @Test
    void withoutTheSettingAJobIsAlwaysOfThisMachine() throws Exception {
        Worlds alone = new Worlds(Optional.empty(), surroundings);

        assertThat(alone.of(order(Orders.gpus("a0", "b0"), "a0"))).isEmpty();
        assertThat(alone.machines(order(Orders.gpus("a0", "b0"), "a0"))).isEqualTo(1);
    }

    @Test
    void aUnitThatThisMachineDoesNotGiveIsStillCountedOn() throws Exception {
        WorldPart world =
                on("n1").of(order(Orders.gpus("a0", "a1", "b0"), "a1")).orElseThrow();

        assertThat(world.members().get(0).workers()).isEqualTo(2);
    }

    @Test
    void aGpuOfNoKnownNodeIsNamedWithTheWayOut() {
        assertThatThrownBy(() -> on("n1").of(order(Orders.gpus("a0", "c9"), "a0")))
                .isInstanceOf(Programs.ProgramException.class)
                .hasMessage("c9 is to run with others on several machines, but no node in the inventory has it; start"
                        + " the agent of its machine");
    }
}
