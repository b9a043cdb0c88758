package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.ForeignDomainException;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;

/** Writers of an intake's topics change nothing in domains that the intake does not list. */
class IntakesPerDomainTest {
    private static final DomainId EAST = new DomainId("east");
    private static final DomainId WEST = new DomainId("west");

    /** The domain of the other team. */
    private static final DomainId OURS = Scenario.DOMAIN;

    private static final String INTAKES = "team-a=east+west,team-b=test,oncall=*";

    /** What a domain has written. */
    private record Written(List<DomainEvent> events, List<Decision> decisions, List<Lease> leases) {
        static Written by(Loop loop, DomainId domain) {
            return new Written(
                    loop.events().stream()
                            .filter(event -> event.domain().equals(domain))
                            .toList(),
                    loop.decisions().stream()
                            .filter(decision -> decision.id().domain().equals(domain))
                            .toList(),
                    loop.leases().stream()
                            .filter(lease -> lease.domain().equals(domain))
                            .toList());
        }
    }

    @Test
    void whateverAWriterOfAnotherDomainSendsNothingChangesInADomain() {
        List<Event> day = day();
        try (Loop quiet = Loop.withIntakes(INTAKES);
                Loop attacked = Loop.withIntakes(INTAKES)) {
            for (Event event : day) {
                quiet.tellBy("team-b", event, OURS);
                attacked.tellBy("team-b", event, OURS);
                if (!(event instanceof ActuationReport)) {
                    attacked.tellBy("team-a", event, OURS); // about the other team's domain
                    attacked.tellBy("team-a", event, EAST); // the same names in a domain of its own
                }
                if (event instanceof Node node) {
                    attacked.tellBy("team-a", new NodeLeft(node.nodeId(), OURS, node.at()), OURS);
                    attacked.tellBy("team-a", event, WEST);
                }
            }

            Written undisturbed = Written.by(quiet, OURS);
            Written disturbed = Written.by(attacked, OURS);

            assertThat(undisturbed.decisions())
                    .extracting(decision -> decision.action().kind())
                    .contains("lend", "reclaim", "serve");
            assertThat(disturbed).isEqualTo(undisturbed);
            long fromIntakes = day.stream()
                    .filter(event -> !(event instanceof ActuationReport))
                    .count();
            assertThat(attacked.count("lendstream.dead.letters", "reason", "foreign_domain"))
                    .isEqualTo((double) fromIntakes);
        }
    }

    @Test
    void aRefusedRecordGoesToTheDeadLettersOfTheBaseTopicWithItsOriginAndTheReason() {
        try (Loop loop = Loop.withIntakes(INTAKES)) {
            Scenario story = Scenario.of("deepboot").service("chat", 1);

            loop.tellBy("team-a", story.log().get(1).event(), OURS);

            assertThat(loop.events()).isEmpty();
            List<TestRecord<byte[], byte[]>> letters = loop.deadLetters(TopicCatalogue.SERVICES);
            assertThat(letters).hasSize(1);
            assertThat(Loop.header(letters.get(0), DeadLetters.TOPIC)).isEqualTo("lendstream.services.team-a");
            assertThat(Loop.header(letters.get(0), DeadLetters.ERROR_CLASS))
                    .isEqualTo(ForeignDomainException.class.getName());
            assertThat(Loop.header(letters.get(0), DeadLetters.ERROR_MESSAGE))
                    .contains("intake team-a may write only about east+west");
        }
    }

    /** A record that cannot be read as a whole is passed on by its domain alone. */
    @Test
    void anUnreadableRecordAboutAnotherDomainIsRefusedAtTheIntakeToo() {
        try (Loop loop = Loop.withIntakes(INTAKES)) {
            var job = Codecs.encode(
                    TopicCatalogue.TRAINING_JOBS, Scenario.of("deepboot").jobRecord("bert", 4, true));
            job.put("requestedGpus", -1);
            byte[] bytes = loop.encodeRaw(TopicCatalogue.TRAINING_JOBS, job);

            loop.sendTo(
                    "lendstream.training-jobs.team-a",
                    new TestRecord<>("bert".getBytes(UTF_8), bytes, loop.wallClock()));

            assertThat(loop.deadLetters(TopicCatalogue.TRAINING_JOBS))
                    .singleElement()
                    .satisfies(letter -> assertThat(Loop.header(letter, DeadLetters.ERROR_CLASS))
                            .isEqualTo(ForeignDomainException.class.getName()));
            assertThat(loop.count("lendstream.dead.letters", "reason", "foreign_domain"))
                    .isEqualTo(1);
        }
    }

    @Test
    void theBaseTopicAndAnUnrestrictedIntakeMayWriteAboutEveryDomain() {
        try (Loop loop = Loop.withIntakes(INTAKES)) {
            loop.tell(node("n1", OURS));
            loop.tellBy("oncall", freeze(), OURS);

            assertThat(loop.events())
                    .filteredOn(event -> event.event() instanceof ControlCommand)
                    .extracting(DomainEvent::origin)
                    .containsExactly(Optional.of(new Origin("lendstream.control.oncall", 0, 0)));
        }
    }

    @Test
    void aNodeMovesBetweenTheDomainsOfOneIntake() {
        try (Loop loop = Loop.withIntakes(INTAKES)) {
            loop.tellBy("team-a", node("n1", EAST), EAST);
            loop.tellBy("team-a", node("n1", WEST), WEST);

            assertThat(kinds(loop)).containsExactly("east Node", "east NodeLeft", "west Node");
        }
    }

    @Test
    void aNodeThatAnIntakeDeclaresStaysWhenItsBaseRecordIsDeleted() {
        try (Loop loop = Loop.withIntakes(INTAKES)) {
            loop.tell(node("n1", EAST));
            loop.tellBy("team-a", node("n1", EAST), EAST);
            loop.tell(new NodeLeft(new NodeId("n1"), EAST, Scenario.START));
            assertThat(kinds(loop)).containsExactly("east Node", "east Node");

            loop.tellBy("team-a", new NodeLeft(new NodeId("n1"), EAST, Scenario.START), EAST);

            assertThat(kinds(loop)).containsExactly("east NodeLeft");
        }
    }

    /** State from before there were intakes has nodes under their IDs alone. */
    @Test
    void aNodeOfStateFromBeforeIsStillRemovedByItsBaseTopic() {
        try (Loop before = Loop.live()) {
            before.tell(node("n1", EAST));
            try (Loop loop = before.restarted(TimeMode.WALL)) {
                loop.tell(node("n1", EAST)); // offsets start again: the one applied before
                loop.tell(new NodeLeft(new NodeId("n1"), EAST, Scenario.START));

                assertThat(kinds(loop)).containsExactly("east NodeLeft");
            }
        }
    }

    @Test
    void intakesAddSourcesAndNothingElseToTheTopology() {
        try (Loop plain = Loop.live();
                Loop site = Loop.withIntakes("team-a=east")) {
            String added = inOrder(site.description())
                    .replaceAll(", lendstream[.][a-z-]+[.]team-a", "")
                    .replaceAll("lendstream[.][a-z-]+[.]team-a, ", "");

            assertThat(site.description()).contains("lendstream.services.team-a");
            assertThat(added.replace(", intakes=team-a=east", "")).isEqualTo(inOrder(plain.description()));
        }
    }

    /** Kafka Streams lists the topics of a source in any order. */
    private static String inOrder(String description) {
        return Pattern.compile("topics: \\[([^\\]]*)]")
                .matcher(description)
                .replaceAll(topics ->
                        Stream.of(topics.group(1).split(", ")).sorted().collect(joining(", ", "topics: [", "]")));
    }

    private static List<String> kinds(Loop loop) {
        return loop.events().stream()
                .filter(event -> !(event.event() instanceof Tick) && !(event.event() instanceof SchedulerStarted))
                .map(event ->
                        event.domain().value() + " " + event.event().getClass().getSimpleName())
                .toList();
    }

    private static Node node(String name, DomainId domain) {
        return new Node(
                new NodeId(name),
                domain,
                Pool.TRAINING,
                "boot",
                Scenario.START,
                NodeStatus.READY,
                List.of(Gpu.whole(new GpuId("g-" + name), 0, "test GPU", 80L << 30)));
    }

    private static ControlCommand freeze() {
        return (ControlCommand)
                Scenario.of("deepboot").node("n1", Pool.TRAINING, 1).control(ControlCommand.Kind.FREEZE).log().stream()
                        .map(DomainEvent::event)
                        .filter(ControlCommand.class::isInstance)
                        .findFirst()
                        .orElseThrow();
    }

    /** The records of a domain in which a job borrows idle GPUs and gives them back when demand comes. */
    private static List<Event> day() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
        story.job("bert", 4);
        for (int i = 0; i < 40 && story.job("bert").gpus() < 4; i++) {
            story.rate("chat", 1).settled().after(Duration.ofSeconds(15)).settled();
            if (story.job("bert").gpus() > 0) {
                story.progress("bert", JobPhase.RUNNING).settled();
            }
        }
        return story.rate("chat", 25).settled().log().stream()
                .map(DomainEvent::event)
                .filter(event -> !(event instanceof Tick) && !(event instanceof SchedulerStarted))
                .toList();
    }
}
