package io.lendstream.service.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.service.settings.SettingsException;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.AbstractRecords;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LetterBoundsTest {
    @ParameterizedTest
    @CsvSource({
        "1048576, 3000000, 10, 0, 0",
        "1048576, 983041, 65536, 3, 100",
        "1048576, 1048576, 1048576, 1, 1048576",
        "1048576, 3000000, 3000000, 5000, 300",
        "65536, 3000000, 3000000, 500, 5000",
        "262144, 262144, 1, 1, 262144"
    })
    void everyLetterFitsInWhatTheProducerCanSend(int request, int value, int key, int headers, int headerBytes) {
        Headers many = new RecordHeaders();
        for (int i = 0; i < headers; i++) {
            many.add("name-" + i, new byte[headerBytes]);
        }

        ProducerRecord<byte[], byte[]> letter =
                new LetterBounds(request).fit(letter(new byte[key], new byte[value], many));

        assertThat(AbstractRecords.estimateSizeInBytesUpperBound(
                        RecordBatch.CURRENT_MAGIC_VALUE,
                        CompressionType.NONE,
                        letter.key(),
                        letter.value(),
                        letter.headers().toArray()))
                .isLessThan(request);
        assertThat(text(letter, LetterBounds.CUT_FROM)).isEqualTo(Integer.toString(value));
        assertThat(text(letter, DeadLetters.OFFSET)).isEqualTo("7");
        assertThat(text(letter, DeadLetters.ERROR_MESSAGE)).isNotEmpty();
    }

    @Test
    void whatFitsIsKeptAsItCame() {
        byte[] value = new byte[900_000];
        Headers headers = new RecordHeaders().add("ce_id", "7".getBytes(UTF_8));

        ProducerRecord<byte[], byte[]> letter =
                LetterBounds.DEFAULT.fit(letter("chat".getBytes(UTF_8), value, headers));

        assertThat(letter.value()).isSameAs(value);
        assertThat(letter.key()).isEqualTo("chat".getBytes(UTF_8));
        assertThat(letter.headers().lastHeader(LetterBounds.CUT_FROM)).isNull();
        assertThat(text(letter, "ce_id")).isEqualTo("7");
    }

    @Test
    void aKeyThatIsCutCanStillBeToldFromOthers() {
        byte[] key = "a".repeat(100_000).getBytes(UTF_8);
        byte[] other = key.clone();
        other[99_999] = 'b';

        ProducerRecord<byte[], byte[]> letter = LetterBounds.DEFAULT.fit(letter(key, null, new RecordHeaders()));
        ProducerRecord<byte[], byte[]> second = LetterBounds.DEFAULT.fit(letter(other, null, new RecordHeaders()));

        assertThat(letter.key()).hasSize(65_536).isEqualTo(second.key());
        assertThat(letter.value()).isNull();
        assertThat(text(letter, LetterBounds.KEY_CUT_FROM)).isEqualTo("100000");
        assertThat(text(letter, LetterBounds.KEY_SHA_256))
                .hasSize(64)
                .isNotEqualTo(text(second, LetterBounds.KEY_SHA_256));
    }

    @Test
    void aReasonWithoutEndIsCut() {
        ProducerRecord<byte[], byte[]> letter = LetterBounds.DEFAULT.fit(DeadLetters.letter(
                "dlq",
                record(null, null, new RecordHeaders()),
                new IllegalStateException("x".repeat(1_000_000)),
                "test"));

        assertThat(text(letter, DeadLetters.ERROR_MESSAGE)).hasSize(4096);
    }

    @Test
    void aProducerThatCanSendNextToNothingIsRefusedAtTheStart() {
        assertThatThrownBy(() -> LetterBounds.of(Map.of("max.request.size", "1000")))
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "kafka.producer.max.request.size is 1000 bytes, but dead letters need at least 65536; raise it,"
                                + " or leave it out for 1048576");
        assertThat(LetterBounds.of(Map.of("max.request.size", "200000")).requestBytes())
                .isEqualTo(200_000);
        assertThat(LetterBounds.of(Map.of())).isEqualTo(LetterBounds.DEFAULT);
    }

    private static ProducerRecord<byte[], byte[]> letter(byte[] key, byte[] value, Headers headers) {
        return DeadLetters.letter("dlq", record(key, value, headers), new IllegalStateException("why"), "test");
    }

    private static ConsumerRecord<byte[], byte[]> record(byte[] key, byte[] value, Headers headers) {
        return new ConsumerRecord<>(
                "topic", 0, 7, 0, TimestampType.CREATE_TIME, 0, 0, key, value, headers, Optional.empty());
    }

    private static String text(ProducerRecord<byte[], byte[]> letter, String name) {
        return new String(letter.headers().lastHeader(name).value(), UTF_8);
    }
}
