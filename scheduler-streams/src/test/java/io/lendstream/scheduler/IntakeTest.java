package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Origin;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedForward;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Records of a domain that is worked on in the same partition take no way round. */
class IntakeTest {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final int PARTITIONS = 3;

    private static final RoutedRecord ARRIVAL = new RoutedRecord(
            new byte[0], new byte[0], new RoutingHeaders(new Origin("t", 0, 0), Optional.empty()), Optional.empty());

    @TempDir
    File directory;

    private MockProcessorContext<byte[], RoutedRecord> last;

    @Test
    void aRecordOfADomainOfThisPartitionGoesStraightToItAndAnyOtherByTheInternalTopic() {
        DomainPartitioner spread = new DomainPartitioner(PARTITIONS);
        for (String domain : List.of("east", "west", "north", "south")) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                boolean isLocal = spread.of(domain.getBytes(UTF_8)) == partition;

                assertThat(way(domain, partition))
                        .as("domain %s in partition %d", domain, partition)
                        .isEqualTo(isLocal ? SchedulerTopology.OF_DOMAIN : SchedulerTopology.TO_DOMAIN);
            }
        }
    }

    @Test
    void domainsAreSpreadAsKafkaSpreadsKeys() {
        DomainPartitioner spread = new DomainPartitioner(PARTITIONS);
        for (String domain : List.of("east", "west", "north", "south")) {
            byte[] key = domain.getBytes(UTF_8);

            assertThat(spread.of(key)).isEqualTo(BuiltInPartitioner.partitionForKey(key, PARTITIONS));
            assertThat(spread.partitions("by-domain", key, ARRIVAL, PARTITIONS)).contains(Set.of(spread.of(key)));
        }
        assertThatThrownBy(() -> spread.partitions("by-domain", new byte[] {1}, ARRIVAL, 6))
                .hasMessage(
                        "by-domain has 6 partitions, but this scheduler was started for 3; stop all instances and start them again");
    }

    @Test
    void theDecodedContentStaysWithALocalRecordAndIsDecodedAgainAfterTheInternalTopic() {
        var origin = new Origin("lendstream.gpu-telemetry", 2, 7);
        var read = new RoutedRecord(
                "node".getBytes(UTF_8),
                new byte[] {1, 2},
                new RoutingHeaders(origin, Optional.empty()),
                Optional.of(new Input.Happened(sample("east"))));
        var left = new RoutedRecord(
                "node".getBytes(UTF_8),
                null,
                new RoutingHeaders(origin, Optional.of(new RoutingHeaders.Left(new NodeId("node"), Scenario.START))),
                Optional.empty());

        for (RoutedRecord arrival : List.of(read, left)) {
            var headers = new RecordHeaders();
            byte[] bytes = RoutedRecord.serde().serializer().serialize("by-domain", headers, arrival);
            RoutedRecord again = RoutedRecord.serde().deserializer().deserialize("by-domain", headers, bytes);

            assertThat(bytes).isEqualTo(arrival.value());
            assertThat(again.key()).isEqualTo(arrival.key());
            assertThat(again.value()).isEqualTo(arrival.value());
            assertThat(again.passage()).isEqualTo(arrival.passage());
            assertThat(again.input()).isEmpty();
        }
    }

    @Test
    void anArrivalSaysWhatTheIntakeRead() {
        assertThat(passed("east", 0).record().value().input()).contains(new Input.Happened(sample("east")));
    }

    /** Its task cannot read it before the commit. */
    @Test
    void onlyWhatOtherTasksWaitForIsCommittedSoon() {
        int partition = new DomainPartitioner(PARTITIONS).of("east".getBytes(UTF_8));
        way("east", partition);
        assertThat(last.scheduledPunctuators()).isEmpty();

        way("east", (partition + 1) % PARTITIONS);
        assertThat(last.scheduledPunctuators())
                .extracting(MockProcessorContext.CapturedPunctuator::getInterval)
                .containsExactly(Duration.ofMillis(100));
    }

    /** Samples of 1,000 GPUs would otherwise divide the log into ten batches a second, which compress badly. */
    @Test
    void samplesForOtherTasksThatSayNothingNewWaitForTheRegularCommit() {
        int partition = (new DomainPartitioner(PARTITIONS).of("east".getBytes(UTF_8)) + 1) % PARTITIONS;
        GenericRecord sample = Codecs.encode(TopicCatalogue.GPU_TELEMETRY, sample("east"));

        processed(TopicCatalogue.GPU_TELEMETRY, sample, "node".getBytes(UTF_8), false, partition, 3, TimeMode.WALL);
        assertThat(last.scheduledPunctuators()).as("of the first").hasSize(1);

        processed(TopicCatalogue.GPU_TELEMETRY, sample, "node".getBytes(UTF_8), false, partition, 3, TimeMode.VIRTUAL);
        assertThat(last.scheduledPunctuators())
                .as("an accelerated run waits for each")
                .hasSize(3);
    }

    private String way(String domain, int partition) {
        return passed(domain, partition).childName().orElseThrow();
    }

    private static GpuTelemetry sample(String domain) {
        return new GpuTelemetry(new NodeId("node"), new DomainId(domain), "boot", 1, Scenario.START, List.of());
    }

    @ParameterizedTest
    @MethodSource("illegalKeys")
    void aRecordWhoseKeyIsNoNameIsADeadLetterAndReachesNoDomain(byte @Nullable [] key) {
        assertThat(INPUTS).hasSizeGreaterThan(7).containsKey(TopicCatalogue.REQUEST_RATES);
        INPUTS.forEach((topic, record) -> {
            for (boolean isTombstone : List.of(false, true)) {
                List<CapturedForward<? extends byte[], ? extends RoutedRecord>> forwarded =
                        processed(topic, record, key, isTombstone, 0);

                assertThat(forwarded).as("%s, tombstone %s", topic, isTombstone).hasSize(1);
                assertThat(forwarded.get(0).childName()).contains(SchedulerTopology.DEAD_INPUT);
                Record<?, ?> letter = forwarded.get(0).record();
                assertThat(letter.key()).isEqualTo(key);
                assertThat(new String(
                                letter.headers()
                                        .lastHeader(DeadLetters.ERROR_MESSAGE)
                                        .value(),
                                UTF_8))
                        .contains("key");
            }
        });
    }

    @Test
    void theSameRecordsWithKeysThatAreNamesReachTheirDomain() {
        INPUTS.forEach((topic, record) -> assertThat(processed(topic, record, "name".getBytes(UTF_8), false, 0))
                .as("%s", topic)
                .singleElement()
                .satisfies(forward -> assertThat(forward.childName())
                        .isPresent()
                        .isNotEqualTo(Optional.of(SchedulerTopology.DEAD_INPUT))));
    }

    static Stream<Arguments> illegalKeys() {
        return Stream.of(
                        null,
                        new byte[0],
                        " ".getBytes(UTF_8),
                        "n1\u001b[2J".getBytes(UTF_8),
                        "n1\n".getBytes(UTF_8),
                        "n'1".getBytes(UTF_8),
                        "..".getBytes(UTF_8),
                        "a/../b".getBytes(UTF_8),
                        "\u202e1n".getBytes(UTF_8),
                        "Gr\u00f6\u00dfe".getBytes(UTF_8),
                        "n".repeat(250).getBytes(UTF_8),
                        new byte[] {'n', (byte) 0xff},
                        // ".." in two bytes each, and half of a surrogate pair
                        new byte[] {(byte) 0xc0, (byte) 0xae, (byte) 0xc0, (byte) 0xae},
                        new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80})
                .map(key -> Arguments.of((Object) key));
    }

    /** A good record of each topic that others write. */
    private static final Map<Topic<?>, GenericRecord> INPUTS = inputs();

    private static Map<Topic<?>, GenericRecord> inputs() {
        Scenario story = Scenario.of("lendstream")
                .node("node", Pool.INFERENCE, 2)
                .service("chat", 0)
                .job("bert", 2)
                .rate("chat", 5)
                .forecast("chat", 10)
                .sample("node", Optional.empty())
                .progress("bert", JobPhase.RUNNING)
                .control(ControlCommand.Kind.FREEZE);
        Map<Topic<?>, GenericRecord> inputs = new LinkedHashMap<>();
        for (Topic<?> topic : TopicCatalogue.ALL) {
            if (Strictness.intake(topic) == Strictness.REFUSE) {
                story.log().stream()
                        .map(DomainEvent::event)
                        .filter(topic.type()::isInstance)
                        .findFirst()
                        .ifPresent(event -> inputs.put(topic, encoded(topic, event)));
            }
        }
        return inputs;
    }

    private static <T> GenericRecord encoded(Topic<T> topic, Object value) {
        return Codecs.encode(topic, topic.type().cast(value));
    }

    private CapturedForward<? extends byte[], ? extends RoutedRecord> passed(String domain, int partition) {
        List<CapturedForward<? extends byte[], ? extends RoutedRecord>> forwarded = processed(
                TopicCatalogue.GPU_TELEMETRY,
                Codecs.encode(TopicCatalogue.GPU_TELEMETRY, sample(domain)),
                "node".getBytes(UTF_8),
                false,
                partition);
        assertThat(forwarded).hasSize(1);
        return forwarded.get(0);
    }

    private List<CapturedForward<? extends byte[], ? extends RoutedRecord>> processed(
            Topic<?> kind, GenericRecord record, byte @Nullable [] key, boolean isTombstone, int partition) {
        return processed(kind, record, key, isTombstone, partition, 1, TimeMode.WALL);
    }

    /** The same record so many times, with a commit after each. */
    private List<CapturedForward<? extends byte[], ? extends RoutedRecord>> processed(
            Topic<?> kind,
            GenericRecord record,
            byte @Nullable [] key,
            boolean isTombstone,
            int partition,
            int times,
            TimeMode time) {
        try (FakeRegistry registry = new FakeRegistry()) {
            SerdeFactory serdes = SerdeFactory.of(Map.of(RegistrySettings.URL, registry.url()));
            var exactlyOnce = new Properties();
            exactlyOnce.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
            var context =
                    new MockProcessorContext<byte[], RoutedRecord>(exactlyOnce, new TaskId(0, partition), directory);
            last = context;
            KeyValueStore<String, String> nodes = Stores.keyValueStoreBuilder(
                            Stores.inMemoryKeyValueStore(SchedulerTopology.NODE_DOMAINS),
                            Serdes.String(),
                            Serdes.String())
                    .withLoggingDisabled()
                    .build();
            nodes.init(context.getStateStoreContext(), nodes);
            context.addStateStore(nodes);
            context.setCurrentSystemTimeMs(Scenario.START.toEpochMilli());
            String topic = TOPICS.name(kind);
            context.setRecordMetadata(topic, partition, 7);
            var intake = new Intake(
                    TOPICS,
                    new InputReader(
                            TOPICS, serdes, new Patience(1, Duration.ofMillis(1), () -> false), Duration.ofMinutes(5)),
                    time,
                    new DomainPartitioner(PARTITIONS),
                    SchedulerKeys.DEFAULT_LIMITS,
                    new SchedulerMetrics(new SimpleMeterRegistry()));
            intake.init(context);
            byte[] value = isTombstone ? null : serdes.serializer().serialize(topic, record);

            for (int i = 0; i < times; i++) {
                context.scheduledPunctuators()
                        .forEach(commit -> commit.getPunctuator().punctuate(0));
                intake.process(new Record<>(key, value, Scenario.START.toEpochMilli(), new RecordHeaders()));
            }

            return List.copyOf(context.forwarded());
        }
    }
}
