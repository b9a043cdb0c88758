package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What would be more than a domain may have is refused with the name of the setting, and a place that is freed can be
 * taken.
 */
class DomainLimitsTest {
    private static final DomainLimits LIMITS = new DomainLimits(2, 2, 3, 1, 2, 2, 1);

    private final Loop loop = Loop.within(LIMITS);
    private final Scenario story =
            new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS), Loop.WALL_CLOCK);
    private long sequence;

    @AfterEach
    void close() {
        loop.close();
    }

    private static Node node(String name, String domain, int gpus) {
        List<Gpu> all = new ArrayList<>();
        for (int i = 0; i < gpus; i++) {
            all.add(Gpu.whole(new GpuId(name + "-g" + i), i, "H100", 80L << 30));
        }
        return new Node(
                new NodeId(name), new DomainId(domain), Pool.TRAINING, "boot", Loop.WALL_CLOCK, NodeStatus.READY, all);
    }

    private RequestRate rate(String service, String source) {
        RequestRate ours = story.rateRecord(service, 5, ++sequence);
        return new RequestRate(
                ours.service(),
                ours.domain(),
                source,
                ours.bootId(),
                ours.sequence(),
                ours.windowStart(),
                ours.windowEnd(),
                ours.requests(),
                ours.latency(),
                ours.inputSizes(),
                List.of());
    }

    /** Why the only record of a topic that was set aside since the last time was refused; empty where none was. */
    private Optional<String> refusal(Topic<?> topic) {
        List<TestRecord<byte[], byte[]>> letters = loop.deadLetters(topic);
        assertThat(letters).hasSizeLessThan(2);
        return letters.stream()
                .map(letter -> Loop.header(letter, DeadLetters.ERROR_MESSAGE))
                .findFirst();
    }

    private static void assertReplays(List<DomainEvent> log, Loop from) {
        assertThat(SchedulerTopologyTest.decisionsOf(log)).isEqualTo(from.decisions());
    }

    @Test
    void oneNodeTooManyIsRefusedUntilAnotherLeaves() {
        loop.tell(node("a", "test", 1)).tell(node("b", "test", 1));
        assertThat(refusal(TopicCatalogue.NODES)).isEmpty();

        loop.tell(node("c", "test", 1));
        assertThat(refusal(TopicCatalogue.NODES))
                .contains("node c is new, but domain test already has 2 nodes: scheduler.max-nodes is 2."
                        + " Delete nodes that no longer exist by tombstones, or raise the setting.");
        loop.tell(node("b", "test", 2));
        assertThat(refusal(TopicCatalogue.NODES)).as("one that is there").isEmpty();
        loop.tell(new NodeLeft(new NodeId("a"), Scenario.DOMAIN, Loop.WALL_CLOCK))
                .tell(node("c", "test", 1));

        assertThat(refusal(TopicCatalogue.NODES)).isEmpty();
        List<DomainEvent> log = loop.events();
        assertThat(log.stream().filter(event -> event.event() instanceof Node)).hasSize(4);
        assertThat(loop.count("lendstream.dead.letters", "reason", "over_limit"))
                .isEqualTo(1);
        assertReplays(log, loop);
    }

    @Test
    void aNodeWithTooManyGpusIsRefused() {
        loop.tell(node("a", "test", 4));

        assertThat(refusal(TopicCatalogue.NODES))
                .contains(
                        "node a has 4 GPUs: scheduler.max-gpus-per-node is 3. Correct the node's inventory, or raise the setting.");
        loop.tell(node("a", "test", 3));
        assertThat(refusal(TopicCatalogue.NODES)).isEmpty();
    }

    @Test
    void oneServiceTooManyIsRefusedAndOneThatIsThereMayChange() {
        loop.tell(story.service("chat", 0).log().get(1).event())
                .tell(story.service("code", 0).log().get(2).event());

        assertThat(refusal(TopicCatalogue.SERVICES))
                .get()
                .asString()
                .startsWith("service code is new, but domain test already has 1 service: scheduler.max-services is 1.");
        loop.tell(story.service("chat", 1).log().get(3).event());
        assertThat(refusal(TopicCatalogue.SERVICES)).isEmpty();
    }

    @Test
    void oneQueueTooManyIsRefusedAndOneThatIsThereMayChange() {
        loop.tell(story.queue("team-a", 4).log().get(1).event())
                .tell(story.queue("team-b", 4).log().get(2).event());

        assertThat(refusal(TopicCatalogue.QUEUES))
                .get()
                .asString()
                .startsWith("queue team-b is new, but domain test already has 1 queue: scheduler.max-queues is 1.");
        loop.tell(story.queue("team-a", 8).log().get(3).event());
        assertThat(refusal(TopicCatalogue.QUEUES)).isEmpty();
        assertReplays(loop.events(), loop);
    }

    @Test
    void oneJobTooManyIsRefusedUntilAnotherIsOver() {
        loop.tell(story.jobRecord("one", 1, true)).tell(story.jobRecord("two", 1, true));

        loop.tell(story.jobRecord("three", 1, true));
        assertThat(refusal(TopicCatalogue.TRAINING_JOBS))
                .get()
                .asString()
                .startsWith("job three is new, but domain test already has 2 unfinished jobs:"
                        + " scheduler.max-jobs is 2.");
        TrainingProgress over = (TrainingProgress) story.job("one", 1)
                .progress("one", JobPhase.FINISHED)
                .log()
                .get(2)
                .event();
        loop.tell(over).tell(story.jobRecord("three", 1, true));

        assertThat(refusal(TopicCatalogue.TRAINING_JOBS)).isEmpty();
    }

    @Test
    void oneSourceTooManyIsRefusedUntilAnotherHasBeenSilentForLong() {
        loop.tell(story.service("chat", 0).log().get(1).event());
        loop.tell(rate("chat", "one")).tell(rate("chat", "two"));

        loop.tell(rate("chat", "three"));
        assertThat(refusal(TopicCatalogue.REQUEST_RATES))
                .get()
                .asString()
                .startsWith("source three is new, but service chat already has 2 sources of request rates:"
                        + " scheduler.max-rate-sources is 2.");
        loop.tell(rate("chat", "one"));
        assertThat(refusal(TopicCatalogue.REQUEST_RATES)).isEmpty();
        Duration long_ = Duration.ofMinutes(11);
        loop.pass(long_);
        story.after(long_);
        loop.tell(rate("chat", "three"));

        assertThat(refusal(TopicCatalogue.REQUEST_RATES)).as("both are gone").isEmpty();
    }

    @Test
    void oneDomainTooManyIsRefusedAndLeavesNothing() {
        loop.tell(node("a", "east", 1)).tell(node("b", "west", 1)).tell(node("c", "north", 1));

        assertThat(refusal(TopicCatalogue.NODES))
                .contains("domain north is new, but its partition already has 2 domains: scheduler.max-domains is 2."
                        + " Correct the record's domain if its name is wrong, or raise the setting.");
        assertThat(loop.events()).extracting(event -> event.domain().value()).containsOnly("east", "west");
        assertThat(loop.labels("lendstream.gpus")).containsExactly("east", "west");
    }

    @Test
    void aStateAboveALimitLoadsAndGoesOn() {
        try (Loop roomy = Loop.live()) {
            for (String name : List.of("a", "b", "c", "d")) {
                roomy.tell(node(name, "test", 5));
            }
            roomy.tell(story.jobRecord("one", 1, true))
                    .tell(story.jobRecord("two", 1, true))
                    .tell(story.jobRecord("three", 1, true));
            List<DomainEvent> log = new ArrayList<>(roomy.events());

            try (Loop narrow = roomy.restarted(TimeMode.WALL, Policies.parse("deepboot"), LIMITS)) {
                narrow.passOn(node("d", "test", 5), 100).passOn(story.jobRecord("three", 1, false), 100);
                assertThat(narrow.deadLetters(TopicCatalogue.NODES)).isEmpty();
                assertThat(narrow.deadLetters(TopicCatalogue.TRAINING_JOBS)).isEmpty();
                narrow.passOn(node("e", "test", 1), 101);
                assertThat(narrow.deadLetters(TopicCatalogue.NODES)).hasSize(1);

                log.addAll(narrow.events());
                List<io.lendstream.core.decision.Decision> all = new ArrayList<>(roomy.decisions());
                all.addAll(narrow.decisions());
                assertThat(SchedulerTopologyTest.decisionsOf(log)).isEqualTo(all);
                assertThat(narrow.gauge("lendstream.gpus", "domain", "test", "owner", "free")
                                + narrow.gauge("lendstream.gpus", "domain", "test", "owner", "binding")
                                + narrow.gauge("lendstream.gpus", "domain", "test", "owner", "training"))
                        .isEqualTo(20);
            }
        }
    }

    @Test
    void metricsNameSoManyDomainsAndSumUpTheRest() {
        try (Loop many = Loop.live()) {
            for (int i = 0; i < Loop.MOST_LABELS + 2; i++) {
                many.tell(node("node-" + i, "domain-" + i, 2));
            }

            assertThat(many.labels("lendstream.gpus")).containsExactly("domain-0", "domain-1", "domain-2", "other");
            assertThat(many.gauge("lendstream.gpus", "domain", "other", "owner", "free"))
                    .isEqualTo(4);
            assertThat(many.labels("lendstream.domain.stopped")).contains("other");
        }
    }

    /** OffsetDateTime reads years that milliseconds cannot express. */
    @Test
    void aTombstoneOfAnImpossibleTimeTakesItsNodeOutNow() {
        loop.tell(node("a", "test", 1));
        Instant far = Instant.parse("+999999999-12-31T00:00:00Z");
        var headers = new CloudEventHeaders("id", "source", "type", far).toHeaders();

        loop.sendTo(
                Loop.TOPICS.name(TopicCatalogue.NODES),
                new TestRecord<>("a".getBytes(UTF_8), null, headers, Loop.WALL_CLOCK));

        assertThat(refusal(TopicCatalogue.NODES)).isEmpty();
        assertThat(loop.events())
                .last()
                .extracting(DomainEvent::event)
                .isEqualTo(new NodeLeft(new NodeId("a"), Scenario.DOMAIN, Loop.WALL_CLOCK));
    }
}
