package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A step that fails changes nothing; where time itself fails a domain is stopped, and others go on. */
class StoppedDomainTest {
    private static final DomainId OTHER = new DomainId("elsewhere");
    private static final Duration MINUTE = Duration.ofSeconds(61);
    /** GPUs that the job asks for over which the policy stumbles. */
    private static final int CURSED = 7;

    private final AtomicBoolean broken = new AtomicBoolean();
    private final Policy stumbling = new Stumbling(Policies.parse("deepboot"), broken);
    private final Scenario story =
            new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS), Loop.WALL_CLOCK);
    private final List<DomainEvent> log = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private Loop loop = Loop.with(stumbling);
    private long sequence;

    @AfterEach
    void close() {
        BrittleSerializer.breakOnNothing();
        loop.close();
    }

    /** Lets time pass, for the loop and for what the story writes. */
    private void pass(Duration time) {
        loop.pass(time);
        story.after(time);
        gather();
    }

    private void gather() {
        log.addAll(loop.events());
        decisions.addAll(loop.decisions());
    }

    private void tell(Event event) {
        loop.tell(event);
        gather();
    }

    private List<DomainEvent> logOf(DomainId domain) {
        return log.stream().filter(event -> event.domain().equals(domain)).toList();
    }

    private Node node(String name, DomainId domain) {
        Node ours = (Node) story.node(name, Pool.TRAINING, 2)
                .log()
                .get(story.log().size() - 1)
                .event();
        return new Node(ours.nodeId(), domain, ours.pool(), ours.bootId(), story.now(), NodeStatus.READY, ours.gpus());
    }

    private RequestRate rate(String service, DomainId domain, double perSecond) {
        RequestRate ours = story.rateRecord(service, perSecond, ++sequence);
        return new RequestRate(
                ours.service(),
                domain,
                ours.source(),
                ours.bootId(),
                ours.sequence(),
                ours.windowStart(),
                ours.windowEnd(),
                ours.requests(),
                ours.latency(),
                ours.inputSizes(),
                List.of());
    }

    private TrainingJob cursed() {
        return story.jobRecord("cursed", CURSED, true);
    }

    /** A domain whose state has a job over which every plan stumbles, and another domain beside it. */
    private void stopBySecretlyBadJob() {
        tell(node("train", Scenario.DOMAIN));
        tell(node("far", OTHER));
        tell(story.jobRecord("fine", 1, true));
        pass(MINUTE);
        tell(cursed());
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isZero();
        broken.set(true);
        pass(MINUTE);
    }

    private List<TestRecord<byte[], byte[]>> letters(Topic<?> topic) {
        return loop.deadLetters(topic);
    }

    private void assertReplays() {
        assertThat(SchedulerTopologyTest.decisionsOf(logOf(Scenario.DOMAIN)))
                .as("what the log replays to")
                .isEqualTo(decisions.stream()
                        .filter(decision -> decision.id().domain().equals(Scenario.DOMAIN))
                        .toList());
    }

    @Test
    void aTickThatFailsStopsItsDomainAndNoOther() {
        stopBySecretlyBadJob();

        tell(rate("chat", Scenario.DOMAIN, 5));
        tell(rate("chat", OTHER, 5));

        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isEqualTo(1);
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "elsewhere"))
                .isZero();
        assertThat(loop.complaint())
                .get()
                .asString()
                .isEqualTo(
                        "1 of its domains is stopped and makes no decisions: test (IllegalStateException: unforeseen)");
        assertThat(letters(TopicCatalogue.REQUEST_RATES)).singleElement().satisfies(letter -> {
            assertThat(Loop.header(letter, DeadLetters.ERROR_MESSAGE))
                    .startsWith("domain test has been stopped since ")
                    .contains("unforeseen");
            assertThat(Loop.header(letter, DeadLetters.ERROR_CLASS))
                    .as("what doctor looks for")
                    .endsWith(".DomainStoppedException");
            assertThat(letter.key()).isEqualTo("chat".getBytes(UTF_8));
        });
        assertThat(log)
                .last()
                .satisfies(event -> assertThat(event.domain()).isEqualTo(OTHER))
                .satisfies(event -> assertThat(event.event()).isInstanceOf(RequestRate.class));
        assertThat(loop.count("lendstream.dead.letters", "reason", "domain_stopped"))
                .isEqualTo(1);
        assertReplays();
    }

    @Test
    void aStoppedDomainIsTriedAgainEachMinuteAndGoesOnWhenATickWorks() {
        stopBySecretlyBadJob();
        int before = logOf(Scenario.DOMAIN).size();

        pass(MINUTE);
        assertThat(logOf(Scenario.DOMAIN)).as("another try that failed").hasSize(before);
        broken.set(false);
        pass(Duration.ofSeconds(30));
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isEqualTo(1);
        pass(Duration.ofSeconds(40));

        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isZero();
        assertThat(loop.complaint()).isEmpty();
        assertThat(logOf(Scenario.DOMAIN).get(before).event()).isInstanceOf(Tick.class);
        tell(rate("chat", Scenario.DOMAIN, 5));
        assertThat(log).last().extracting(DomainEvent::event).isInstanceOf(RequestRate.class);
        assertReplays();
    }

    @Test
    void aRecordThatMendsTheStateEndsTheStopAndOneThatDoesNotIsADeadLetter() {
        stopBySecretlyBadJob();

        tell(story.jobRecord("unrelated", 1, true));
        assertThat(letters(TopicCatalogue.TRAINING_JOBS)).hasSize(1);
        TrainingJob corrected = story.jobRecord("cursed", 1, true);
        tell(corrected);

        assertThat(letters(TopicCatalogue.TRAINING_JOBS)).isEmpty();
        assertThat(logOf(Scenario.DOMAIN)).last().extracting(DomainEvent::event).isEqualTo(corrected);
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isZero();
        pass(MINUTE);
        assertThat(loop.complaint()).isEmpty();
        assertReplays();
    }

    @Test
    void aStoppedDomainIsTriedAgainAfterARestart() {
        stopBySecretlyBadJob();

        try (Loop next = loop.restarted(TimeMode.WALL)) {
            next.tell(rate("chat", Scenario.DOMAIN, 5));

            List<DomainEvent> events = next.events();
            assertThat(events.get(0).event()).isInstanceOf(SchedulerStarted.class);
            assertThat(events).last().extracting(DomainEvent::event).isInstanceOf(RequestRate.class);
            assertThat(next.gauge("lendstream.domain.stopped", "domain", "test"))
                    .isZero();
            log.addAll(events);
            decisions.addAll(next.decisions());
            assertReplays();
        }
    }

    @Test
    void whereTheRestartedVersionFailsTooARecordMayStillMendTheDomain() {
        stopBySecretlyBadJob();

        try (Loop next = loop.restarted(TimeMode.WALL, stumbling, SchedulerKeys.DEFAULT_LIMITS)) {
            next.tell(rate("chat", Scenario.DOMAIN, 5));
            assertThat(next.gauge("lendstream.domain.stopped", "domain", "test"))
                    .isEqualTo(1);
            next.passOn(story.jobRecord("cursed", 1, true), 100);

            assertThat(next.gauge("lendstream.domain.stopped", "domain", "test"))
                    .isZero();
            log.addAll(next.events());
            decisions.addAll(next.decisions());
            assertReplays();
        }
    }

    @Test
    void aDecisionThatCannotBeEncodedRefusesItsEventAndLeavesTheStateAsItWas() {
        Node node = (Node) Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .log()
                .get(1)
                .event();
        tell(new Node(
                node.nodeId(), Scenario.DOMAIN, Pool.INFERENCE, "boot", story.now(), NodeStatus.READY, node.gpus()));
        story.service("chat", 1);
        BrittleSerializer.breakOn((topic, record) -> topic.equals("lendstream.decisions"));

        tell(story.log().get(story.log().size() - 1).event());

        assertThat(letters(TopicCatalogue.SERVICES))
                .singleElement()
                .satisfies(letter -> assertThat(Loop.header(letter, DeadLetters.ERROR_MESSAGE))
                        .isEqualTo("long overflow"));
        assertThat(log).last().extracting(DomainEvent::event).isInstanceOf(Node.class);
        assertThat(loop.leases()).as("the GPUs are still free").hasSize(2);
        assertThat(decisions).isEmpty();

        BrittleSerializer.breakOnNothing();
        tell(story.log().get(story.log().size() - 1).event());

        assertThat(decisions).as("the service gets its floor").hasSize(1);
        assertReplays();
    }

    /** More of them than the most that are refused in a row before a tick has to show whose fault it is. */
    @Test
    void oneBadWriterDoesNotStopADomainWhoseTimeGoesOn() {
        tell(node("train", Scenario.DOMAIN));
        BrittleSerializer.breakOn(
                (topic, record) -> topic.equals("lendstream.domain-events") && isRateOf("evil", record));

        for (int i = 0; i < 50; i++) {
            tell(rate("evil", Scenario.DOMAIN, 5));
        }

        assertThat(letters(TopicCatalogue.REQUEST_RATES)).hasSize(50);
        assertThat(loop.count("lendstream.dead.letters", "reason", "refused")).isEqualTo(50);
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isZero();
        tell(rate("chat", Scenario.DOMAIN, 5));
        assertThat(log).last().extracting(DomainEvent::event).isInstanceOf(RequestRate.class);
        assertReplays();
    }

    private static boolean isRateOf(String service, GenericRecord event) {
        return event.get("event") instanceof GenericRecord inner
                && inner.toString().contains("\"" + service + "\"");
    }

    @Test
    void whereEveryEventIsRefusedATickShowsThatItIsTheDomainAndTheProcessGoesOn() {
        tell(node("train", Scenario.DOMAIN));
        tell(node("far", OTHER));
        BrittleSerializer.breakOn((topic, record) -> topic.equals("lendstream.domain-events")
                && String.valueOf(record.get("domain")).equals("test"));

        for (int i = 0; i < 19; i++) {
            tell(rate("chat", Scenario.DOMAIN, 5));
        }
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isZero();
        tell(rate("chat", Scenario.DOMAIN, 5));
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isEqualTo(1);
        tell(rate("chat", OTHER, 5));

        assertThat(log).last().satisfies(event -> assertThat(event.domain()).isEqualTo(OTHER));
        BrittleSerializer.breakOnNothing();
        pass(MINUTE);
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isZero();
        tell(rate("chat", Scenario.DOMAIN, 5));
        assertThat(log).last().satisfies(event -> assertThat(event.domain()).isEqualTo(Scenario.DOMAIN));
        assertReplays();
    }

    /** Deepboot, but for a bug that a job's description brings out. */
    private record Stumbling(Policy policy, AtomicBoolean broken) implements Policy {
        @Override
        public PolicyInfo info() {
            return policy.info();
        }

        @Override
        public Duration planEvery() {
            return policy.planEvery();
        }

        @Override
        public Duration protectFor(int warmHits) {
            return policy.protectFor(warmHits);
        }

        @Override
        public Plan plan(ClusterView cluster) {
            if (broken.get() && cluster.jobs().stream().anyMatch(job -> job.requestedGpus() == CURSED)) {
                throw new IllegalStateException("unforeseen");
            }
            return policy.plan(cluster);
        }

        @Override
        public List<GpuId> victims(ClusterView cluster, int count) {
            return policy.victims(cluster, count);
        }

        @Override
        public List<Alternative> losses(ClusterView cluster, int count) {
            return policy.losses(cluster, count);
        }

        @Override
        public String spec() {
            return policy.spec();
        }
    }
}
