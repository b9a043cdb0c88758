package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Origin;
import io.lendstream.core.fixtures.Story;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedForward;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records of a domain that is worked on in the same partition take no way round. */
class IntakeTest {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final int PARTITIONS = 3;

    private static final Arrival ARRIVAL = new Arrival(
            new byte[0], new byte[0], new Passage(new Origin("t", 0, 0), Optional.empty()), Optional.empty());

    @TempDir
    File directory;

    @Test
    void aRecordOfADomainOfThisPartitionGoesStraightToItAndAnyOtherByTheInternalTopic() {
        Spread spread = new Spread(PARTITIONS);
        for (String domain : List.of("east", "west", "north", "south")) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                boolean isAtHand = spread.of(domain.getBytes(UTF_8)) == partition;

                assertThat(way(domain, partition))
                        .as("domain %s in partition %d", domain, partition)
                        .isEqualTo(isAtHand ? SchedulerTopology.OF_DOMAIN : SchedulerTopology.TO_DOMAIN);
            }
        }
    }

    @Test
    void domainsAreSpreadAsKafkaSpreadsKeys() {
        Spread spread = new Spread(PARTITIONS);
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
    void whatWasReadGoesWithARecordThatIsAtHandAndOnesOfTheInternalTopicAreReadAgain() {
        var origin = new Origin("lendstream.gpu-telemetry", 2, 7);
        var read = new Arrival(
                "node".getBytes(UTF_8),
                new byte[] {1, 2},
                new Passage(origin, Optional.empty()),
                Optional.of(new Input.Happened(sample("east"))));
        var left = new Arrival(
                "node".getBytes(UTF_8),
                null,
                new Passage(origin, Optional.of(new Passage.Left(new NodeId("node"), Story.START))),
                Optional.empty());

        for (Arrival arrival : List.of(read, left)) {
            var headers = new RecordHeaders();
            byte[] bytes = Arrival.serde().serializer().serialize("by-domain", headers, arrival);
            Arrival again = Arrival.serde().deserializer().deserialize("by-domain", headers, bytes);

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

    private String way(String domain, int partition) {
        return passed(domain, partition).childName().orElseThrow();
    }

    private static GpuTelemetry sample(String domain) {
        return new GpuTelemetry(new NodeId("node"), new DomainId(domain), "boot", 1, Story.START, List.of());
    }

    private CapturedForward<? extends byte[], ? extends Arrival> passed(String domain, int partition) {
        try (FakeRegistry registry = new FakeRegistry()) {
            SerdeFactory serdes = SerdeFactory.of(Map.of(RegistrySettings.URL, registry.url()));
            var context =
                    new MockProcessorContext<byte[], Arrival>(new Properties(), new TaskId(0, partition), directory);
            KeyValueStore<String, String> nodes = Stores.keyValueStoreBuilder(
                            Stores.inMemoryKeyValueStore(SchedulerTopology.NODE_DOMAINS),
                            Serdes.String(),
                            Serdes.String())
                    .withLoggingDisabled()
                    .build();
            nodes.init(context.getStateStoreContext(), nodes);
            context.addStateStore(nodes);
            context.setCurrentSystemTimeMs(Story.START.toEpochMilli());
            String topic = TOPICS.name(TopicCatalogue.GPU_TELEMETRY);
            context.setRecordMetadata(topic, partition, 7);
            var intake = new Intake(
                    TOPICS,
                    new InputReader(
                            TOPICS, serdes, new Patience(1, Duration.ofMillis(1), () -> false), Duration.ofMinutes(5)),
                    TimeMode.WALL,
                    new Spread(PARTITIONS),
                    new SchedulerMetrics(new SimpleMeterRegistry()));
            intake.init(context);
            byte[] value =
                    serdes.serializer().serialize(topic, Codecs.encode(TopicCatalogue.GPU_TELEMETRY, sample(domain)));

            intake.process(
                    new Record<>("node".getBytes(UTF_8), value, Story.START.toEpochMilli(), new RecordHeaders()));

            assertThat(context.forwarded()).hasSize(1);
            return context.forwarded().get(0);
        }
    }
}
