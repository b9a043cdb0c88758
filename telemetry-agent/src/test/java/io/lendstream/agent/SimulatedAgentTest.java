package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.Stop;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two nodes of two GPUs, the first one training's, sampled every ten seconds. */
class SimulatedAgentTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final FakeBroker broker = new FakeBroker();
    private final RecordWriter writer = broker.writer("agent");
    private final Health health = new Health();

    @Test
    void publishesInventoriesAndSamplesUnderTheirNodesNames() {
        var nodes = nodes(NOON);
        SimulatedAgent.publish(writer, nodes.inventory(), nodes.sampleNow(NOON));

        assertThat(broker.values(TopicCatalogue.NODES))
                .extracting(Node::pool)
                .containsExactly(Pool.TRAINING, Pool.INFERENCE);
        assertThat(broker.values(TopicCatalogue.GPU_TELEMETRY))
                .extracting(GpuTelemetry::at)
                .containsExactly(NOON, NOON);
        assertThat(broker.log("lendstream.nodes"))
                .extracting(record -> new String(record.key(), java.nio.charset.StandardCharsets.UTF_8))
                .containsExactly("node-00", "node-01");
    }

    @Test
    void answersTheEnvironmentWithAllSamplesUntilItsTime() {
        environmentSays(0);
        SimulatedAgent agent = agent();
        follow(agent);
        environmentSays(25);
        follow(agent);

        assertThat(broker.values(TopicCatalogue.NODES)).hasSize(2);
        assertThat(broker.values(TopicCatalogue.GPU_TELEMETRY))
                .extracting(GpuTelemetry::at)
                .containsExactly(
                        NOON.plusSeconds(10), NOON.plusSeconds(10), NOON.plusSeconds(20), NOON.plusSeconds(20));
        assertThat(answers()).containsExactly(NOON, NOON.plusSeconds(25));
        assertThat(broker.values(TopicCatalogue.PROGRESS).get(3).positions())
                .containsEntry("lendstream.gpu-telemetry-0", 4L)
                .containsEntry("lendstream.nodes-0", 2L);
    }

    @Test
    void publishesTheInventoryOfAGpuThatWasCutAlsoWhenTheAgentWasNotThereThen() {
        Gpu gpu = nodes(NOON).inventory().get(1).gpus().get(0);
        DecisionId cut = new DecisionId(DOMAIN, 1, 5);
        broker.publish(
                TopicCatalogue.DECISIONS,
                DOMAIN.value(),
                new Decision(
                        cut,
                        NOON,
                        NOON.plusSeconds(60),
                        false,
                        new Reason("slices", "", Map.of(), List.of()),
                        new Action.Repartition(List.of(gpu.gpuId()), List.of("3g.40gb@4"))));
        broker.publish(
                TopicCatalogue.ACTUATION_REPORTS,
                DOMAIN.value(),
                new ActuationReport(
                        DOMAIN,
                        cut,
                        "actuator",
                        NOON.plusSeconds(3),
                        Outcome.APPLIED,
                        List.of(gpu.gpuId()),
                        Optional.empty(),
                        Timings.NONE,
                        ""));
        environmentSays(10);
        follow(agent());

        List<Node> inventories = broker.values(TopicCatalogue.NODES);
        assertThat(inventories.get(1).gpus().get(0).instances()).isEmpty();
        assertThat(inventories.get(2).gpus().get(0).instances())
                .extracting(GpuInstance::profile)
                .containsExactly("3g.40gb");
    }

    @Test
    void aLeaseKeepsAGpuBusy() {
        GpuId gpu = nodes(NOON).inventory().get(0).gpus().get(0).gpuId();
        broker.publish(
                TopicCatalogue.LEASES,
                gpu.value(),
                new Lease(
                        gpu,
                        new NodeId("node-00"),
                        DOMAIN,
                        Pool.TRAINING,
                        new Owner.Training(new JobId("job")),
                        1,
                        1,
                        NOON,
                        Optional.empty()));
        environmentSays(0);
        SimulatedAgent agent = agent();
        follow(agent);
        environmentSays(10);
        follow(agent);

        List<Optional<Double>> utilizations = broker.values(TopicCatalogue.GPU_TELEMETRY).stream()
                .flatMap(sample -> sample.gpus().stream())
                .map(sample -> sample.activity().utilization())
                .toList();

        assertThat(utilizations.get(0))
                .hasValueSatisfying(busy -> assertThat(busy).isGreaterThan(0.8));
        assertThat(utilizations.subList(1, 4)).containsOnly(Optional.of(0.0));
    }

    @Test
    void anotherDomainsTimeIsNotItsOwn() {
        broker.publish(
                TopicCatalogue.PROGRESS,
                "environment",
                new Progress("environment", new DomainId("e"), NOON, Map.of(), Optional.empty()));

        follow(agent());

        assertThat(answers()).isEmpty();
    }

    @Test
    void byTheWallClockItIsReadyOnceItsInventoryIsPublished() {
        var stop = new Stop();
        stop.request();

        agent().followTheWallClock(health, stop);

        assertThat(health.whyNotReady()).isEmpty();
        assertThat(broker.values(TopicCatalogue.NODES)).hasSize(2);
    }

    private SimulatedAgent agent() {
        return new SimulatedAgent(
                writer,
                broker.reader(writer),
                DOMAIN,
                true,
                SimulatedAgentTest::nodes,
                (inventory, samples) -> samples,
                (inventory, samples) -> {});
    }

    private static SimulatedNodes nodes(Instant start) {
        return new SimulatedNodes(
                new SimulatedNodes.Layout(DOMAIN, 2, 2, 1, 1, 7), start, Duration.ofSeconds(10), "boot");
    }

    private void follow(SimulatedAgent agent) {
        int[] turns = {2};
        agent.followTheEnvironment(health, () -> turns[0]-- == 0);
    }

    private void environmentSays(long second) {
        broker.publish(
                TopicCatalogue.PROGRESS,
                "environment",
                new Progress("environment", DOMAIN, NOON.plusSeconds(second), Map.of(), Optional.empty()));
    }

    private List<Instant> answers() {
        return broker.values(TopicCatalogue.PROGRESS).stream()
                .filter(progress -> progress.service().equals("agent"))
                .map(Progress::eventTime)
                .toList();
    }
}
