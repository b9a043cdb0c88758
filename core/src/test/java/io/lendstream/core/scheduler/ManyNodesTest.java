package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What a node's inventory costs depends on that node's GPUs, not on how many nodes the domain has. */
@Isolated("It measures time.")
class ManyNodesTest {
    private static final DomainId DOMAIN = new DomainId("large");
    private static final int FEW = 2_000;
    private static final int MANY = 20_000;
    /** Enough steps in a row that one pause of the JVM does not decide their median. */
    private static final int MEASURED = 1_000;

    private static final double MOST_RATIO = 5;

    private final Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);

    private static Node node(int number, int gpus) {
        List<Gpu> all = new ArrayList<>();
        for (int i = 0; i < gpus; i++) {
            all.add(Gpu.whole(new GpuId("node-%06d-gpu-%d".formatted(number, i)), i, "H100", 80L << 30));
        }
        return new Node(
                new NodeId("node-%06d".formatted(number)),
                DOMAIN,
                Pool.INFERENCE,
                "boot",
                Scenario.START,
                NodeStatus.READY,
                all);
    }

    private ClusterState after(ClusterState state, Event event) {
        return scheduler
                .step(
                        state,
                        new DomainEvent(
                                DOMAIN, state.epoch(), state.eventSequence() + 1, event.at(), Optional.empty(), event))
                .state();
    }

    /** Median nanoseconds for one more node. */
    private long costOfOneMore(int nodes) {
        ClusterState state =
                after(ClusterState.empty(DOMAIN), scheduler.started(ClusterState.empty(DOMAIN), Scenario.START));
        for (int i = 0; i < nodes; i++) {
            state = after(state, node(i, 1));
        }
        List<Long> nanos = new ArrayList<>();
        for (int i = nodes; i < nodes + MEASURED; i++) {
            Node one = node(i, 1);
            long start = System.nanoTime();
            state = after(state, one);
            nanos.add(System.nanoTime() - start);
        }
        assertThat(state.gpus().size()).isEqualTo(nodes + MEASURED);
        nanos.sort(Long::compare);
        return nanos.get(nanos.size() / 2);
    }

    @Test
    void oneMoreNodeCostsLittleMoreWhereThereAreTenTimesAsMany() {
        costOfOneMore(FEW); // until it is compiled

        long few = costOfOneMore(FEW);
        long many = costOfOneMore(MANY);

        assertThat((double) many / few)
                .as("a node costs %d ns among %d nodes and %d ns among %d", few, FEW, many, MANY)
                .isLessThanOrEqualTo(MOST_RATIO);
    }

    @Test
    void whatANodeNoLongerReportsGoesAndTheGpusOfItsNeighboursStay() {
        ClusterState state =
                after(ClusterState.empty(DOMAIN), scheduler.started(ClusterState.empty(DOMAIN), Scenario.START));
        for (int i = 0; i < 3; i++) {
            state = after(state, node(i, 2));
        }

        ClusterState shrunk = after(state, node(1, 1));
        ClusterState left = after(shrunk, new NodeLeft(new NodeId("node-000001"), DOMAIN, Scenario.START));

        assertThat(shrunk.gpus().stream().map(gpu -> gpu.gpuId().value()))
                .containsExactly(
                        "node-000000-gpu-0",
                        "node-000000-gpu-1",
                        "node-000001-gpu-0",
                        "node-000002-gpu-0",
                        "node-000002-gpu-1");
        assertThat(left.gpus().stream()).hasSize(4).allMatch(gpu -> gpu.owner() instanceof Owner.Free);
        assertThat(left.clusterIndex())
                .as("the index that is kept is the one that would be made from scratch")
                .isEqualTo(new ClusterEntities(
                                left.nodes(),
                                left.gpus(),
                                left.services(),
                                left.jobs(),
                                left.queues(),
                                left.actuators())
                        .clusterIndex());
    }
}
