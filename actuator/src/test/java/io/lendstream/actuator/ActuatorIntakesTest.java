package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Writers of one intake change nothing that an actuator does in a domain that it does not list. */
final class ActuatorIntakesTest {
    private static final DomainId OURS = new DomainId("south");
    private static final DomainId THEIRS = new DomainId("east");
    private static final JobId BERT = new JobId("bert");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final FakeBroker broker = new FakeBroker(
            new TopicCatalogue("lendstream.", Intakes.parse("team-a=east,team-b=south"), Optional.empty()));
    private final RecordWriter us = broker.writerFor("team-b");
    private final RecordWriter them = broker.writerFor("team-a");
    private Instant now = NOON;
    private long sequence;

    @Test
    void neitherTombstonesNorInventoriesNorJobsOfAnotherIntakeChangeADomain() {
        us.write(TopicCatalogue.NODES, "n1", node(OURS));
        us.write(TopicCatalogue.TRAINING_JOBS, "bert", job(OURS));
        them.write(TopicCatalogue.NODES, "n1", node(OURS)); // refused: not theirs to declare
        them.write(TopicCatalogue.NODES, "n1", node(THEIRS));
        them.write(TopicCatalogue.TRAINING_JOBS, "bert", job(THEIRS));
        them.delete(TopicCatalogue.NODES, "n1");
        them.delete(TopicCatalogue.TRAINING_JOBS, "bert");
        ActuatorService actuator = started();

        decide();
        actuator.turn(Duration.ZERO);
        now = NOON.plusSeconds(60);
        actuator.turn(Duration.ZERO);

        assertThat(outcomes()).containsExactly(Outcome.ACCEPTED, Outcome.BOUND, Outcome.APPLIED);
        assertThat(broker.log("lendstream.nodes-dlq")).hasSize(1);
    }

    @Test
    void aTombstoneOfItsOwnIntakeForgetsANode() {
        us.write(TopicCatalogue.NODES, "n1", node(OURS));
        us.delete(TopicCatalogue.NODES, "n1");
        ActuatorService actuator = started();

        decide();
        actuator.turn(Duration.ZERO);

        assertThat(outcomes()).containsExactly(Outcome.REJECTED);
    }

    @Test
    void anActuatorOfSomeDomainsKnowsNothingOfOthers() {
        them.write(TopicCatalogue.NODES, "n1", node(THEIRS)); // with our GPU
        ActuatorService ours = started("actuator.domains=south");
        us.write(TopicCatalogue.NODES, "n1", node(OURS));
        ours.turn(Duration.ZERO);

        decide();
        ours.turn(Duration.ZERO);

        assertThat(outcomes()).containsExactly(Outcome.ACCEPTED);
    }

    private ActuatorService started(String... settings) {
        RecordWriter writer = broker.writer("actuator");
        ActuatorSettings all = ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS, settings));
        var transport = new DirectTransport(all.name(), broker.reader(writer), writer, () -> broker.reader(writer));
        var actuator = ActuatorService.byWallClock(all, transport, new Health(), new SimpleMeterRegistry(), () -> now);
        actuator.start(() -> false);
        return actuator;
    }

    private void decide() {
        sequence++;
        List<GpuId> gpus = List.of(new GpuId("g1"));
        broker.writer("scheduler")
                .write(
                        TopicCatalogue.DECISIONS,
                        "south",
                        new Decision(
                                new DecisionId(OURS, 1, sequence),
                                NOON,
                                NOON.plusSeconds(600),
                                false,
                                new Reason("plan", "", Map.of(), List.of()),
                                new Action.Resize(BERT, gpus, new Allocation(gpus, 10, 0, 1, Mechanism.AFE))));
    }

    private List<Outcome> outcomes() {
        return broker.values(TopicCatalogue.ACTUATION_REPORTS).stream()
                .map(report -> report.outcome())
                .filter(outcome -> outcome != Outcome.HOLDS)
                .toList();
    }

    private static Node node(DomainId domain) {
        return new Node(
                new NodeId("n1"),
                domain,
                Pool.TRAINING,
                "boot",
                NOON,
                NodeStatus.READY,
                List.of(Gpu.whole(new GpuId("g1"), 0, "A100", 80L << 30)));
    }

    private static TrainingJob job(DomainId domain) {
        return new TrainingJob(
                BERT,
                domain,
                NOON,
                "cifar10",
                new TrainingJob.Scaling(1, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(10, 1000, 1, 100, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(Duration.ofSeconds(20), Duration.ofSeconds(2))),
                "simulated",
                Optional.empty());
    }
}
