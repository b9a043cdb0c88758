package io.lendstream.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.fake.FakeSerdes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublisherTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final FakeBroker broker = new FakeBroker();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final AtomicReference<Optional<String>> brokerIsAway = new AtomicReference<>(Optional.empty());
    private final AtomicReference<Optional<String>> registryIsAway = new AtomicReference<>(Optional.empty());

    @Test
    void recordsArriveInOrderEachAnEventOfItsOwn() throws IOException {
        try (Publisher publisher = start("a")) {
            publish(publisher, 1, 2, 3);
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 2L, 3L);
        var first = broker.log("lendstream.gpu-telemetry").get(0);
        assertThat(CloudEventHeaders.from(first.headers()))
                .hasValue(new CloudEventHeaders("a-1", "/lendstream/agent/n", "io.lendstream.GpuTelemetry", NOON));
        assertThat(new String(first.key(), StandardCharsets.UTF_8)).isEqualTo("n");
    }

    @Test
    void remarksAreAHeader() throws IOException {
        try (Publisher publisher = start("a")) {
            publisher.publish(TopicCatalogue.GPU_TELEMETRY, "n", sample(1), List.of("restarted", "spread"));
            publisher.drain(PATIENCE);
        }

        Header remarks = broker.log("lendstream.gpu-telemetry").get(0).headers().lastHeader("lendstream.remarks");
        assertThat(new String(remarks.value(), StandardCharsets.UTF_8)).isEqualTo("restarted,spread");
    }

    @Test
    void whileTheBrokerIsAwayRecordsWaitAndThenGoInOrder() throws Exception {
        brokerIsAway.set(Optional.of("no broker"));
        try (Publisher publisher = start("a")) {
            publish(publisher, 1, 2);
            while (publisher.trouble().filter("no broker"::equals).isEmpty()) {
                Thread.sleep(5);
            }
            assertThat(publisher.waiting()).isEqualTo(2);
            publish(publisher, 3);
            brokerIsAway.set(Optional.empty());
            assertThat(publisher.drain(PATIENCE)).isTrue();
            assertThat(publisher.trouble()).isEmpty();
        }

        assertThat(sequences()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void whileTheRegistryIsAwayRecordsWaitToo() throws Exception {
        registryIsAway.set(Optional.of("no registry"));
        try (Publisher publisher = start("a")) {
            publish(publisher, 1, 2);
            while (publisher.trouble().filter("no registry"::equals).isEmpty()) {
                Thread.sleep(5);
            }
            registryIsAway.set(Optional.empty());
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 2L);
    }

    @Test
    void whatCouldNotBeDeliveredIsDeliveredByTheNextStartAsTheSameEvents() throws IOException {
        brokerIsAway.set(Optional.of("no broker"));
        try (Publisher publisher = start("a")) {
            publish(publisher, 1, 2);
        }
        brokerIsAway.set(Optional.empty());
        try (Publisher publisher = start("b")) {
            publish(publisher, 3);
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 2L, 3L);
        assertThat(broker.log("lendstream.gpu-telemetry"))
                .extracting(record ->
                        CloudEventHeaders.from(record.headers()).orElseThrow().id())
                .containsExactly("a-1", "a-2", "b-1");
    }

    @Test
    void anUnreadableRecordIsDroppedAndTheRestContinues() throws IOException {
        try (Spool spool = Spool.open(directory, 1 << 20)) {
            spool.append(new byte[] {1, 2, 3});
        }
        try (Publisher publisher = start("a")) {
            publish(publisher, 1);
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L);
        assertThat(metrics.counter("lendstream.records.unreadable").count()).isEqualTo(1);
    }

    @Test
    void theBrokersClockIsComparedWithOurs() {
        var clock = new BrokerClock(metrics);

        clock.take(1_000, 1_005, 1_010);
        assertThat(clock.skewSeconds()).isZero();
        clock.take(1_000, 4_010, 1_010);
        assertThat(clock.skewSeconds()).isEqualTo(3);
        clock.take(10_000, 8_000, 10_010);
        assertThat(clock.skewSeconds()).isEqualTo(-2);
    }

    private Publisher start(String boot) throws IOException {
        var outlet = new BrokerTarget(
                () -> fail(brokerIsAway),
                () -> broker.producer(),
                () -> (topic, record) -> {
                    fail(registryIsAway);
                    return FakeSerdes.serializer().serialize(topic, record);
                },
                FakeBroker.TOPICS,
                "/lendstream/agent/n");
        return Publisher.start(outlet, boot, Optional.of(directory), 1 << 20, metrics);
    }

    private static void fail(AtomicReference<Optional<String>> why) {
        why.get().ifPresent(reason -> {
            throw new KafkaException(reason);
        });
    }

    private static void publish(Publisher publisher, long... sequences) {
        LongStream.of(sequences)
                .forEach(sequence -> publisher.publish(TopicCatalogue.GPU_TELEMETRY, "n", sample(sequence)));
    }

    private static GpuTelemetry sample(long sequence) {
        return new GpuTelemetry(new NodeId("n"), new DomainId("d"), "boot", sequence, NOON, List.of());
    }

    private List<Long> sequences() {
        return broker.values(TopicCatalogue.GPU_TELEMETRY).stream()
                .map(GpuTelemetry::sequence)
                .toList();
    }
}
