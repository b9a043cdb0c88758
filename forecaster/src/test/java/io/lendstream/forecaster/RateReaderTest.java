package io.lendstream.forecaster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.forecast.service.Rates;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RateReaderTest {
    private static final Instant NOW = Rates.MIDNIGHT.plus(Duration.ofHours(1));

    private final RateReader reader = new RateReader(
            Map.of("value.deserializer", FramedAvro.class.getName()),
            TopicCatalogue.standard(),
            Duration.ofMinutes(5),
            () -> NOW,
            1 << 20,
            LetterBounds.DEFAULT);

    @Test
    void readsRequestRates() {
        var rate = Rates.of("gateway").next(15);

        assertThat(read(FramedAvro.framed(rate))).isEqualTo(new Incoming.Measured(rate));
    }

    @Test
    void putsAsideWhatIsNoRecord() {
        assertThat(poison("hello".getBytes(UTF_8)).kind()).endsWith(".MalformedFrameException");
        assertThat(poison(new byte[] {0, 0, 0, 0, 1, 7}).kind()).endsWith(".SerializationException");
        assertThat(poison(new byte[0]).kind()).endsWith(".MalformedFrameException");
        assertThat(poison(null).reason()).isEqualTo("a record of request rates needs a value, but has none");
    }

    @ParameterizedTest
    @MethodSource("illegalKeys")
    void aRecordWhoseKeyIsNoNameIsADeadLetter(byte @Nullable [] key) throws Exception {
        byte[] good = FramedAvro.framed(Rates.of("gateway").next(15));

        assertThat(read("chat".getBytes(UTF_8), good)).isInstanceOf(Incoming.Measured.class);
        assertThat(read(key, good)).isInstanceOfSatisfying(Incoming.Poison.class, poison -> {
            var letter = poison.letter().toTopic("lendstream.request-rates-dlq");
            assertThat(letter.key()).isEqualTo(key);
            assertThat(letter.value()).isEqualTo(good);
            assertThat(poison.letter().reason()).contains("key");
        });
    }

    static Stream<Arguments> illegalKeys() {
        return Stream.of(
                        null,
                        new byte[0],
                        " ".getBytes(UTF_8),
                        "chat\u001b[2J".getBytes(UTF_8),
                        "chat\n".getBytes(UTF_8),
                        "ch'at".getBytes(UTF_8),
                        "..".getBytes(UTF_8),
                        "a/../b".getBytes(UTF_8),
                        "\u202etahc".getBytes(UTF_8),
                        "Gr\u00f6\u00dfe".getBytes(UTF_8),
                        "c".repeat(250).getBytes(UTF_8),
                        new byte[] {'c', (byte) 0xff},
                        // ".." in two bytes each, and half of a surrogate pair
                        new byte[] {(byte) 0xc0, (byte) 0xae, (byte) 0xc0, (byte) 0xae},
                        new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80})
                .map(key -> Arguments.of((Object) key));
    }

    @Test
    void putsAsideWhatIsTooLargeCutToWhatTheProducerCanSend() {
        RateDeadLetter letter = poison(new byte[3_000_000]);

        assertThat(letter.kind()).endsWith(".OversizeRecordException");
        assertThat(letter.toTopic("dlq").value().length).isBetween(500_000, 1_000_000);
        assertThat(letter.toTopic("dlq")
                        .headers()
                        .lastHeader(LetterBounds.CUT_FROM)
                        .value())
                .isEqualTo("3000000".getBytes(UTF_8));
    }

    @Test
    void refusesImpossibleRates() {
        var record =
                Codecs.encode(TopicCatalogue.REQUEST_RATES, Rates.of("gateway").next(15));
        record.put("arrivals", -1L);
        assertThat(poison(FramedAvro.framed(record)).reason()).contains("arrivals", "-1");

        record.put("arrivals", Long.MAX_VALUE);
        assertThat(poison(FramedAvro.framed(record)).reason()).contains("arrivals", "9223372036854775807");

        long start = (long) record.get("windowStart");
        record.put("arrivals", 100_000_000L);
        record.put("windowStart", (long) record.get("windowEnd") - 1);
        assertThat(poison(FramedAvro.framed(record)).reason()).startsWith("arrivals of chat are");

        record.put("arrivals", 1L);
        record.put("windowStart", start);
        record.put("p99LatencySeconds", Double.NaN);
        assertThat(poison(FramedAvro.framed(record)).reason()).contains("p99LatencySeconds", "NaN");
    }

    @Test
    void putsAsideWhatComesFromTheFuture() {
        var allowed = Rates.of("gateway").from(NOW.plusSeconds(300 - 15)).next(1);
        var ahead = Rates.of("gateway").from(NOW.plusSeconds(301 - 15)).next(1);

        assertThat(read(FramedAvro.framed(allowed))).isInstanceOf(Incoming.Measured.class);
        assertThat(poison(FramedAvro.framed(ahead)).reason())
                .isEqualTo(
                        "the record has the time 2026-01-05T01:05:01Z, more than max-clock-skew (300 s) ahead of this"
                                + " machine's clock (2026-01-05T01:00:00Z)");
    }

    @Test
    void keepsADeadLetterAsItCameAndAddsItsOrigin() throws Exception {
        var letter = poison(new byte[] {9, 9});
        var out = new DataOutputSerializer(64);
        var serializer = new IncomingSerializer();

        serializer.serialize(new Incoming.Poison(letter), out);
        var again = (Incoming.Poison) serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
        var record = again.letter().toTopic("lendstream.request-rates-dlq");

        assertThat(record.topic()).isEqualTo("lendstream.request-rates-dlq");
        assertThat(record.key()).isEqualTo("chat".getBytes(UTF_8));
        assertThat(record.value()).isEqualTo(new byte[] {9, 9});
        List<String> headers = new ArrayList<>();
        record.headers().forEach(header -> headers.add(header.key() + "=" + new String(header.value(), UTF_8)));
        assertThat(headers)
                .contains(
                        "traceparent=00-1",
                        "lendstream.origin.topic=lendstream.request-rates",
                        "lendstream.origin.partition=3",
                        "lendstream.origin.offset=42",
                        "lendstream.error.class=io.lendstream.schemas.serde.MalformedFrameException")
                .anyMatch(header -> header.startsWith("lendstream.error.message=a record must have at least 5 bytes"));
    }

    private RateDeadLetter poison(byte @Nullable [] value) {
        assertThat(read(value)).isInstanceOf(Incoming.Poison.class);
        return ((Incoming.Poison) read(value)).letter();
    }

    private Incoming read(byte @Nullable [] value) {
        return read("chat".getBytes(UTF_8), value);
    }

    private Incoming read(byte @Nullable [] key, byte @Nullable [] value) {
        List<Incoming> out = new ArrayList<>();
        reader.open(null);
        var record = new ConsumerRecord<>("lendstream.request-rates", 3, 42L, key, value);
        record.headers().add("traceparent", "00-1".getBytes(UTF_8));
        reader.deserialize(record, new ListCollector<>(out));
        assertThat(out).hasSize(1);
        return out.get(0);
    }
}
