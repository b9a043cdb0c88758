package io.lendstream.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.fake.FakeSerdes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What goes wrong on the way: nothing may be lost for it, come out of its order, or hold up all behind it for ever. */
class BacklogSenderTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final FakeBroker broker = new FakeBroker();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final MemoryBacklog backlog = new MemoryBacklog(1 << 20);

    /** Writes to the broker, unless the record's place among all that were sent says otherwise. */
    private class Faulty extends MockProducer<byte[], byte[]> {
        private final Producer<byte[], byte[]> real = broker.producer();

        Faulty() {
            super(true, null, new ByteArraySerializer(), new ByteArraySerializer());
        }

        @Override
        public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            return real.send(record, callback);
        }
    }

    /** As Kafka's client answers where it does not take a record. */
    private Producer<byte[], byte[]> failingAt(int place, AtomicInteger sends, RuntimeException failure) {
        return new Faulty() {
            @Override
            public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                if (sends.incrementAndGet() == place) {
                    callback.onCompletion(null, failure);
                    return CompletableFuture.failedFuture(failure);
                }
                return super.send(record, callback);
            }
        };
    }

    /** Fails at given sequences of records. */
    private static Serializer<GenericRecord> serializer(Consumer<Long> each) {
        return (topic, record) -> {
            each.accept((Long) record.get("sequence"));
            return FakeSerdes.serializer().serialize(topic, record);
        };
    }

    @Test
    void whatComesBehindARecordThatWasNotTakenIsNotWrittenBeforeIt() throws IOException {
        var sends = new AtomicInteger();
        var full = new TimeoutException("Topic lendstream.gpu-telemetry not present in metadata after 5000 ms.");
        try (Publisher publisher = with(() -> failingAt(2, sends, full), FakeSerdes::serializer, 1, 2, 3, 4)) {
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void aRecordThatTheBrokerWillNeverTakeIsDroppedAndTheOthersGoOn() throws IOException {
        var sends = new AtomicInteger();
        var tooLarge = new RecordTooLargeException("The message is 2000000 bytes");
        try (Publisher publisher = with(() -> failingAt(2, sends, tooLarge), FakeSerdes::serializer, 1, 2, 3)) {
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 3L);
        assertThat(dropped()).isEqualTo(1);
    }

    @Test
    void anAnswerThatComesLateStopsTheSendingToo() throws InterruptedException {
        var first = new CompletableFuture<RecordMetadata>();
        var sent = new Sent();
        sent.add(Optional.of(new Sent.Answer("nodes", first)));
        sent.add(Optional.of(new Sent.Answer("nodes", new CompletableFuture<>())));
        assertThat(sent.hasFailed()).isFalse();

        first.completeExceptionally(new KafkaException("fatal"));

        assertThat(sent.hasFailed()).isTrue();
    }

    @Test
    void aStopDoesNotDisturbWhoHasTheFilesInHand() throws Exception {
        var inside = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        var disturbed = new AtomicBoolean();
        Backlog files = new Backlog() {
            @Override
            public Batch oldest(int most) {
                inside.countDown();
                try {
                    goOn.await(); // as a file would be read: an interrupt now closes it for good
                } catch (InterruptedException e) {
                    disturbed.set(true);
                }
                return new Batch(0, List.of());
            }

            @Override
            public void append(byte[] record) {}

            @Override
            public void deliveredBefore(long number) {}

            @Override
            public long waiting() {
                return 0;
            }

            @Override
            public long bytes() {
                return 0;
            }

            @Override
            public long lost() {
                return 0;
            }

            @Override
            public void close() {}
        };
        var publisher = Publisher.start(
                outlet(broker::producer, FakeSerdes::serializer), "a", files, SchemaShelf.inMemory(), metrics);
        inside.await();
        var closing = new Thread(publisher::close);
        closing.start();
        closing.join(300);
        goOn.countDown();
        closing.join(5000);

        assertThat(closing.isAlive()).isFalse();
        assertThat(disturbed).isFalse();
    }

    @Test
    void aRecordThatDoesNotFitItsSchemaIsDroppedAndTheOthersGoOnce() throws IOException {
        Supplier<Serializer<GenericRecord>> picky = () -> serializer(sequence -> {
            if (sequence == 2) {
                throw new SerializationException("it cannot be written with its own schema");
            }
        });
        try (Publisher publisher = with(broker::producer, picky, 1, 2, 3)) {
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 3L);
        assertThat(dropped()).isEqualTo(1);
    }

    @Test
    void whatWentOutBeforeTheRegistryWentAwayIsNotSentAgain() throws IOException {
        var tries = new AtomicInteger();
        Supplier<Serializer<GenericRecord>> stumbling = () -> serializer(sequence -> {
            if (sequence == 3 && tries.incrementAndGet() < 3) {
                throw new KafkaException("no registry");
            }
        });
        try (Publisher publisher = with(broker::producer, stumbling, 1, 2, 3)) {
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(sequences()).containsExactly(1L, 2L, 3L);
        assertThat(dropped()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "404, 40403, true",
        "409, 409, true",
        "422, 42201, true",
        "404, 404, false",
        "401, 401, false",
        "503, 50302, false"
    })
    void aRegistryThatRefusesTheSchemaDiffersFromOneThatMayAcceptItLater(int status, int code, boolean isDropped)
            throws IOException {
        HttpServer registry = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        registry.createContext("/", exchange -> {
            byte[] said = "{\"error_code\": %d, \"message\": \"refused here\"}"
                    .formatted(code)
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, said.length);
            exchange.getResponseBody().write(said);
            exchange.close();
        });
        registry.start();
        Map<String, String> properties = Map.of(
                "schema.registry.url",
                "http://127.0.0.1:" + registry.getAddress().getPort(),
                "auto.register.schemas",
                "false",
                "max.retries",
                "0");
        try (Publisher publisher =
                with(broker::producer, () -> SerdeFactory.of(properties).serializer(), 1)) {
            await().atMost(PATIENCE)
                    .until(() -> publisher.waiting() == 0
                            || publisher
                                    .trouble()
                                    .filter(why -> why.contains("refused here"))
                                    .isPresent());

            assertThat(publisher.waiting()).isEqualTo(isDropped ? 0 : 1);
            assertThat(dropped()).isEqualTo(isDropped ? 1 : 0);
        } finally {
            registry.stop(0);
        }
    }

    @Test
    void noClientIsMadeForWhichThereIsNoSerializer() throws IOException {
        var made = new AtomicInteger();
        var tries = new AtomicInteger();
        Supplier<Producer<byte[], byte[]>> counted = () -> {
            made.incrementAndGet();
            return broker.producer();
        };
        Supplier<Serializer<GenericRecord>> late = () -> {
            if (tries.incrementAndGet() < 3) {
                throw new IllegalArgumentException("schema.registry.url is not set");
            }
            return FakeSerdes.serializer();
        };
        try (Publisher publisher = with(counted, late, 1)) {
            assertThat(publisher.drain(PATIENCE)).isTrue();
        }

        assertThat(tries).hasValue(3);
        assertThat(made).hasValue(1);
    }

    @Test
    void aClientThatCannotEvenBeClosedIsReplaced() throws IOException {
        var sends = new AtomicInteger();
        Supplier<Producer<byte[], byte[]>> stubborn = () -> new Faulty() {
            @Override
            public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                if (sends.incrementAndGet() == 1) {
                    throw new KafkaException("fenced");
                }
                return super.send(record, callback);
            }

            @Override
            public void close(Duration timeout) {
                throw new KafkaException("cannot be closed");
            }
        };
        try (Publisher publisher = with(stubborn, FakeSerdes::serializer, 1, 2)) {
            assertThat(publisher.drain(PATIENCE)).isTrue();
            assertThat(publisher.ended()).isEmpty();
        }

        assertThat(sequences()).containsExactly(1L, 2L);
    }

    @Test
    void aDeliveryThatHasEndedSaysSo() throws IOException {
        Supplier<Serializer<GenericRecord>> broken = () -> {
            throw new NoClassDefFoundError("org/example/Missing");
        };
        try (Publisher publisher = with(broker::producer, broken, 1)) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(publisher.ended())
                            .hasValueSatisfying(why -> assertThat(why).contains("org/example/Missing")));
            assertThat(publisher.waiting()).isEqualTo(1);
        }
    }

    @Test
    void aDeliveryThatIsStoppedHasNotEndedByItself() throws IOException {
        Publisher publisher = with(broker::producer, FakeSerdes::serializer, 1);
        publisher.drain(PATIENCE);
        publisher.close();

        assertThat(publisher.ended()).isEmpty();
    }

    /** A publisher that finds these records waiting, all of one batch. */
    private Publisher with(
            Supplier<Producer<byte[], byte[]>> producers,
            Supplier<Serializer<GenericRecord>> serializers,
            long... sequences)
            throws IOException {
        var mayGo = new CountDownLatch(1);
        BrokerTarget to = outlet(producers, serializers);
        BrokerTarget later =
                new BrokerTarget(() -> pass(mayGo), to.producers(), to.serializers(), to.topics(), to.source());
        Publisher publisher = Publisher.start(later, "a", backlog, SchemaShelf.inMemory(), metrics);
        LongStream.of(sequences)
                .forEach(sequence -> publisher.publish(
                        TopicCatalogue.GPU_TELEMETRY,
                        "n",
                        new GpuTelemetry(new NodeId("n"), new DomainId("d"), "boot", sequence, NOON, List.of())));
        mayGo.countDown();
        return publisher;
    }

    private static void pass(CountDownLatch mayGo) {
        try {
            mayGo.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted", e);
        }
    }

    private static BrokerTarget outlet(
            Supplier<Producer<byte[], byte[]>> producers, Supplier<Serializer<GenericRecord>> serializers) {
        return new BrokerTarget(() -> {}, producers, serializers, FakeBroker.TOPICS, "/lendstream/agent/n");
    }

    private double dropped() {
        return metrics.counter("lendstream.records.unreadable").count();
    }

    private List<Long> sequences() {
        return broker.values(TopicCatalogue.GPU_TELEMETRY).stream()
                .map(GpuTelemetry::sequence)
                .toList();
    }
}
