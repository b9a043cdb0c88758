package io.lendstream.service.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.fake.FakeSerdes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RecordReaderTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final String NODES = "lendstream.nodes";

    private final FakeBroker broker = new FakeBroker();
    private final RecordWriter writer = broker.writer("test");
    private final List<String> read = new ArrayList<>();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();

    @Test
    void handsOverWhatRecordsStandForInTheirOrder() {
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));
        writer.delete(TopicCatalogue.NODES, "n1");

        var got = new ArrayList<Received<Node>>();
        RecordReader reader = reader(FakeSerdes.deserializer()).handing(TopicCatalogue.NODES, got::add);
        reader.start(Map.of());
        reader.poll(Duration.ZERO);

        assertThat(got)
                .containsExactly(
                        new Received<>("n1", Optional.of(node("n1", NOON)), new Origin(NODES, 0, 0), Instant.EPOCH),
                        new Received<>("n1", Optional.empty(), new Origin(NODES, 0, 1), Instant.EPOCH));
    }

    @Test
    void theCountOfLettersStartsAtZero() {
        reading(FakeSerdes.deserializer());

        assertThat(metrics.get("lendstream.dead.letters")
                        .tag("topic", NODES)
                        .counter()
                        .count())
                .isZero();
    }

    @Test
    void poisonGoesToTheDeadLettersWithItsOriginAndReadingGoesOn() {
        raw(new byte[] {0, 0, 0});
        raw(new byte[] {7, 0, 0, 0, 0, 1});
        raw(new byte[] {0, 0, 0, 0, 99, 1});
        raw(new byte[] {0, 0, 0, 0, 0, 1});
        writer.write(TopicCatalogue.NODES, "n9", node("n9", NOON.plus(Duration.ofMinutes(6))));
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON.plus(Duration.ofMinutes(4))));

        RecordReader reader = reading(FakeSerdes.deserializer());
        reader.poll(Duration.ZERO);

        assertThat(read).containsExactly("n1");
        List<ConsumerRecord<byte[], byte[]>> letters = broker.log("lendstream.nodes-dlq");
        assertThat(letters).hasSize(5);
        assertThat(letters.get(0).value()).containsExactly(0, 0, 0);
        assertThat(headers(letters.get(1)))
                .containsEntry("lendstream.origin.topic", NODES)
                .containsEntry("lendstream.origin.partition", "0")
                .containsEntry("lendstream.origin.offset", "1")
                .containsEntry("lendstream.origin.timestamp", "0")
                .containsEntry("lendstream.error.class", "io.lendstream.schemas.serde.MalformedFrameException")
                .containsEntry("lendstream.error.service", "test")
                .containsKey("lendstream.error.message");
        assertThat(headers(letters.get(4)).get("lendstream.error.message"))
                .isEqualTo(
                        "the record has the time 2026-01-01T12:06:00Z, more than max-clock-skew (300 s) ahead of this"
                                + " machine's clock (2026-01-01T12:00:00Z)");
        assertThat(metrics.counter("lendstream.dead.letters", "topic", NODES).count())
                .isEqualTo(5);
    }

    @Test
    void aRecordThatIsTooLargeIsNotDecodedAndItsLetterCanBeSent() {
        raw(new byte[3_000_000]);
        writer.send(new ProducerRecord<>(NODES, new byte[3_000_000], null));
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));

        RecordReader reader = reading(FakeSerdes.deserializer());
        reader.poll(Duration.ZERO);

        assertThat(read).containsExactly("n1");
        List<ConsumerRecord<byte[], byte[]>> letters = broker.log("lendstream.nodes-dlq");
        assertThat(letters).hasSize(2).allSatisfy(letter -> {
            assertThat(LetterBounds.size(letter.key(), letter.value(), letter.headers()))
                    .isLessThan(1_000_000);
            assertThat(headers(letter).get("lendstream.error.message")).contains("max-record-bytes is 1048576");
        });
        assertThat(headers(letters.get(0))).containsEntry(LetterBounds.CUT_FROM, "3000000");
        assertThat(headers(letters.get(1))).containsEntry(LetterBounds.KEY_CUT_FROM, "3000000");
    }

    @Test
    void aRecordThatBreaksItsOwnBoundsIsPoison() {
        GenericRecord progress = Codecs.encode(
                TopicCatalogue.TRAINING_PROGRESS,
                new TrainingProgress(
                        new io.lendstream.core.id.JobId("job"),
                        new DomainId("d"),
                        NOON,
                        io.lendstream.core.event.JobPhase.RUNNING,
                        1,
                        Optional.empty(),
                        new TrainingProgress.Parallelism(1, 1, 1, 0),
                        TrainingProgress.StepTiming.NOT_MEASURED,
                        TrainingProgress.GradientStatistics.NOT_MEASURED));
        progress.put("replicas", -1);
        writer.send(new ProducerRecord<>(
                "lendstream.training-progress",
                FakeSerdes.serializer().serialize("lendstream.training-progress", progress)));

        RecordReader reader = reader(FakeSerdes.deserializer())
                .handing(TopicCatalogue.TRAINING_PROGRESS, record -> read.add(record.key()));
        reader.start(Map.of());
        reader.poll(Duration.ZERO);

        assertThat(read).isEmpty();
        assertThat(broker.log("lendstream.training-progress-dlq")).hasSize(1);
    }

    @Test
    void aTombstoneWithABlankKeyIsPoison() {
        writer.delete(TopicCatalogue.NODES, " ");

        reading(FakeSerdes.deserializer()).poll(Duration.ZERO);

        assertThat(read).isEmpty();
        assertThat(broker.log("lendstream.nodes-dlq")).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("illegalKeys")
    void aRecordWhoseKeyIsNoNameIsADeadLetterAndNotHandedOver(byte @Nullable [] key) {
        byte[] good = FakeSerdes.serializer().serialize(NODES, Codecs.encode(TopicCatalogue.NODES, node("n1", NOON)));
        writer.send(new ProducerRecord<>(NODES, key, good));
        writer.send(new ProducerRecord<>(NODES, key, null));
        writer.write(TopicCatalogue.NODES, "n2", node("n2", NOON));

        reading(FakeSerdes.deserializer()).poll(Duration.ZERO);

        assertThat(read).containsExactly("n2");
        List<ConsumerRecord<byte[], byte[]>> letters = broker.log("lendstream.nodes-dlq");
        assertThat(letters).hasSize(2).allSatisfy(letter -> {
            assertThat(letter.key()).isEqualTo(key);
            assertThat(headers(letter))
                    .containsEntry("lendstream.error.class", UnusableKeyException.class.getName())
                    .hasEntrySatisfying(
                            "lendstream.error.message", why -> assertThat(why).contains("key"));
        });
        assertThat(letters.get(0).value()).isEqualTo(good);
        assertThat(letters.get(1).value()).isNull();
    }

    static Stream<Arguments> illegalKeys() {
        return Stream.of(
                        null,
                        new byte[0],
                        bytes(" "),
                        bytes("n1\u001b[2J"),
                        bytes("n1\n"),
                        bytes("n'1"),
                        bytes(".."),
                        bytes("a/../b"),
                        bytes("\u202e1n"),
                        bytes("Gr\u00f6\u00dfe"),
                        bytes("n".repeat(250)),
                        new byte[] {'n', (byte) 0xff},
                        // ".." in two bytes each, and half of a surrogate pair
                        new byte[] {(byte) 0xc0, (byte) 0xae, (byte) 0xc0, (byte) 0xae},
                        new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80})
                .map(key -> Arguments.of((Object) key));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void readingStandsStillWhileTheRegistryIsAwayAndLosesNothing() {
        var registry = new OutOfReach();
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));
        writer.write(TopicCatalogue.NODES, "n2", node("n2", NOON));
        RecordReader reader = reading(registry);

        reader.poll(Duration.ZERO);
        reader.poll(Duration.ZERO);

        assertThat(read).isEmpty();
        assertThat(reader.trouble())
                .hasValueSatisfying(why -> assertThat(why).contains("the registry does not answer"));
        assertThat(reader.positions()).containsEntry("lendstream.nodes-0", 0L);
        assertThat(reader.hasCaughtUp()).isFalse();

        registry.away = false;
        reader.poll(Duration.ZERO);

        assertThat(read).containsExactly("n1", "n2");
        assertThat(reader.trouble()).isEmpty();
        assertThat(reader.hasCaughtUp()).isTrue();
        assertThat(broker.log("lendstream.nodes-dlq")).isEmpty();
    }

    @Test
    void goesOnFromThePositionsThatItsServiceKept() {
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));
        RecordReader first = reading(FakeSerdes.deserializer());
        first.poll(Duration.ZERO);
        Map<String, Long> kept = first.positions();
        read.clear();
        writer.write(TopicCatalogue.NODES, "n2", node("n2", NOON));

        RecordReader second =
                reader(FakeSerdes.deserializer()).handing(TopicCatalogue.NODES, record -> read.add(record.key()));
        second.start(kept);
        second.poll(Duration.ZERO);

        assertThat(read).containsExactly("n2");
    }

    @Test
    void readsFromTheBeginningIfATopicWasRecreatedWithFewerRecords() {
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));

        RecordReader reader =
                reader(FakeSerdes.deserializer()).handing(TopicCatalogue.NODES, record -> read.add(record.key()));
        reader.start(Map.of("lendstream.nodes-0", 500L));
        reader.poll(Duration.ZERO);

        assertThat(read).containsExactly("n1");
    }

    @Test
    void knowsWhetherItHasReadAWritersRecords() {
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));
        RecordReader reader = reading(FakeSerdes.deserializer());

        assertThat(reader.hasRead(writer.positions())).isFalse();
        assertThat(reader.hasRead(Map.of("lendstream.leases-0", 7L))).isTrue();

        reader.poll(Duration.ZERO);

        assertThat(reader.hasRead(writer.positions())).isTrue();
    }

    @Test
    void aTopicThatIsNotThereIsNamedWithTheWayOut() {
        RecordReader reader = new RecordReader(
                        broker.consumer(),
                        FakeSerdes.deserializer(),
                        new TopicCatalogue("other."),
                        new DeadLetters(writer::send, FakeBroker.TOPICS, "test", metrics),
                        Duration.ofMinutes(5),
                        InstantSource.fixed(NOON))
                .handing(TopicCatalogue.NODES, record -> {});

        assertThatThrownBy(() -> reader.start(Map.of()))
                .hasMessage("topic other.nodes does not exist. Create it with 'lendstream topics create', or correct"
                        + " topic-prefix.");
    }

    @Test
    void everyRecordIsAnEventOfItsOwn() {
        writer.write(TopicCatalogue.NODES, "n1", node("n1", NOON));
        writer.write(TopicCatalogue.NODES, "n2", node("n2", NOON));

        Map<String, String> one = headers(broker.log(NODES).get(0));
        Map<String, String> other = headers(broker.log(NODES).get(1));

        assertThat(one)
                .containsEntry("ce_specversion", "1.0")
                .containsEntry("ce_type", "io.lendstream.Node")
                .containsEntry("ce_source", "/lendstream/test")
                .containsEntry("ce_time", "2026-01-01T12:00:00Z")
                .containsEntry("content-type", "application/avro");
        assertThat(one.get("ce_id")).isNotEqualTo(other.get("ce_id"));
    }

    @Test
    void everyRecordOfOursButNoneOtherHasATime() {
        assertThat(EventTimes.of(new Tick(new DomainId("d"), NOON))).contains(NOON);
        assertThat(EventTimes.of("text")).isEmpty();
    }

    private RecordReader reading(Deserializer<GenericRecord> deserializer) {
        RecordReader reader = reader(deserializer).handing(TopicCatalogue.NODES, record -> read.add(record.key()));
        reader.start(Map.of());
        return reader;
    }

    private RecordReader reader(Deserializer<GenericRecord> deserializer) {
        return new RecordReader(
                broker.consumer(),
                deserializer,
                FakeBroker.TOPICS,
                new DeadLetters(writer::send, FakeBroker.TOPICS, "test", metrics),
                Duration.ofMinutes(5),
                1 << 20,
                InstantSource.fixed(NOON));
    }

    private void raw(byte[] value) {
        writer.send(new ProducerRecord<>(NODES, "x".getBytes(StandardCharsets.UTF_8), value));
    }

    private static Map<String, String> headers(ConsumerRecord<byte[], byte[]> record) {
        var headers = new java.util.TreeMap<String, String>();
        for (Header header : record.headers()) {
            headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8));
        }
        return headers;
    }

    private static Node node(String name, Instant at) {
        return new Node(new NodeId(name), new DomainId("d"), Pool.TRAINING, "boot", at, NodeStatus.READY, List.of());
    }

    /** Needs a registry that is unreachable for a while. */
    private static final class OutOfReach implements Deserializer<GenericRecord> {
        private final RegistryClient registry = new RegistryClient(
                RegistrySettings.from(Map.of("schema.registry.url", "http://127.0.0.1:1", "max.retries", "0")));
        private boolean away = true;

        @Override
        public GenericRecord deserialize(String topic, byte[] value) {
            if (away) {
                registry.schemaById(1);
            }
            return FakeSerdes.deserializer().deserialize(topic, value);
        }
    }
}
