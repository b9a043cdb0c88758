package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Origin;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A decision waits for no commit interval; right after a commit it waits for those that come with it, a few
 * milliseconds.
 */
class CommitTest {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();

    @TempDir
    private File directory;

    private final FakeRegistry registry = new FakeRegistry();
    private final SerdeFactory serdes = SerdeFactory.of(Map.of(RegistrySettings.URL, registry.url()));
    private final Scenario story = Scenario.of("deepboot");
    private MockProcessorContext<byte[], byte[]> context;
    private DomainProcessor processor;
    private long offset;

    @BeforeEach
    void start() {
        context = context();
        processor = processor();
        describe();
        latest().getPunctuator().punctuate(Scenario.START.toEpochMilli() + 100);
        context.setCurrentSystemTimeMs(Scenario.START.toEpochMilli() + 1_000);
        context.resetCommit();
    }

    @AfterEach
    void stop() {
        registry.close();
    }

    @Test
    void aDecisionIsCommittedAtOnceAndNothingElseIs() {
        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 0, 1));
        assertThat(decisions()).isZero();
        assertThat(context.committed()).isFalse();

        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 25, 2));
        assertThat(decisions()).isPositive();
        assertThat(context.committed()).isTrue();
    }

    @Test
    void aLeaseThatChangesWithoutADecisionIsOwedToItsReaders() {
        tell(TopicCatalogue.NODES, more());

        assertThat(decisions()).isZero();
        assertThat(latest().getInterval()).isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void aRecordThatIsRefusedIsOwedToTheReadersOfDeadLetters() {
        tell(TopicCatalogue.SERVICES, "no service".getBytes(UTF_8));

        assertThat(latest().getInterval()).isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void whatIsDecidedRightAfterACommitIsCommittedALittleLaterEvenIfNothingElseComes() {
        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 25, 1));
        assertThat(context.committed()).isTrue();
        context.resetCommit();

        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 45, 2));
        assertThat(decisions()).isGreaterThan(1);
        assertThat(context.committed()).isFalse();

        var later = latest();
        assertThat(later.getInterval()).isEqualTo(Duration.ofMillis(5));
        later.getPunctuator().punctuate(Scenario.START.toEpochMilli() + 5);
        assertThat(context.committed()).isTrue();
        assertThat(later.cancelled()).isTrue();
    }

    @Test
    void aDecisionWaitsFromItsBatchToTheCommit() {
        CommitPace pace = new CommitPace(context);
        pace.decided(true);
        assertThat(pace.isWaitedFor()).isFalse();

        pace.decided(true);
        assertThat(pace.isWaitedFor()).isTrue();

        latest().getPunctuator().punctuate(Scenario.START.toEpochMilli() + 5);
        assertThat(pace.isWaitedFor()).isFalse();

        pace.owed();
        assertThat(pace.isWaitedFor()).isFalse();
    }

    @Test
    void aTaskThatIsStartedAgainWaitsForNoCommitOfBefore() {
        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 5, 1));
        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 15, 2));
        long decided = decisions();

        processor.init(context);
        context.resetCommit();
        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 35, 3));
        assertThat(decisions()).isGreaterThan(decided);
        assertThat(context.committed()).isTrue();
    }

    @Test
    void whatDemandWaitsForDoesNotWaitWithTheRest() {
        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 45, 1));
        tell(TopicCatalogue.NODES, more());
        var usual = latest();
        assertThat(usual.getInterval()).isEqualTo(Duration.ofMillis(25));

        tell(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 65, 2));
        assertThat(usual.cancelled()).isTrue();
        assertThat(latest().getInterval()).isEqualTo(Duration.ofMillis(5));
    }

    /** A node with four free GPUs. */
    private static Node more() {
        return (Node) Scenario.of("deepboot").node("m", Pool.INFERENCE, 4).log().stream()
                .map(logged -> logged.event())
                .filter(event -> event instanceof Node)
                .findFirst()
                .orElseThrow();
    }

    private void describe() {
        story.node("n", Pool.INFERENCE, 4).service("chat", 0);
        for (var logged : story.log()) {
            Event event = logged.event();
            if (event instanceof Node node) {
                tell(TopicCatalogue.NODES, node);
            } else if (event instanceof InferenceService service) {
                tell(TopicCatalogue.SERVICES, service);
            }
        }
    }

    private <T> void tell(Topic<T> topic, T value) {
        tell(topic, serdes.serializer().serialize(TOPICS.name(topic), Codecs.encode(topic, value)));
    }

    private void tell(Topic<?> topic, byte[] bytes) {
        var passage = new RoutingHeaders(new Origin(TOPICS.name(topic), 0, offset++), Optional.empty());
        processor.process(new Record<>(
                Scenario.DOMAIN.value().getBytes(UTF_8),
                new RoutedRecord("key".getBytes(UTF_8), bytes, passage, Optional.empty()),
                Scenario.START.toEpochMilli()));
    }

    private MockProcessorContext.CapturedPunctuator latest() {
        var all = context.scheduledPunctuators();
        return all.get(all.size() - 1);
    }

    private long decisions() {
        return context.forwarded(SchedulerTopology.DECISIONS).size();
    }

    private MockProcessorContext<byte[], byte[]> context() {
        var exactlyOnce = new Properties();
        exactlyOnce.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        var context = new MockProcessorContext<byte[], byte[]>(exactlyOnce, new TaskId(0, 0), directory);
        KeyValueStore<String, byte[]> domains = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(SchedulerTopology.DOMAINS), Serdes.String(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        domains.init(context.getStateStoreContext(), domains);
        context.addStateStore(domains);
        context.setCurrentSystemTimeMs(Scenario.START.toEpochMilli());
        return context;
    }

    private DomainProcessor processor() {
        var patience = new Patience(1, Duration.ofMillis(1), () -> false);
        var options = new SchedulerOptions(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS),
                TimeMode.WALL,
                Duration.ofMinutes(5),
                true,
                Duration.ofSeconds(60),
                Duration.ofSeconds(30));
        var processor = new DomainProcessor(
                TOPICS,
                options,
                new InputReader(TOPICS, serdes, patience, Duration.ofMinutes(5)),
                new OutputWriter(TOPICS, serdes, patience),
                new SchedulerMetrics(new SimpleMeterRegistry()));
        processor.init(context);
        return processor;
    }
}
