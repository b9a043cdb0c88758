package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.LetterBounds;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.errors.ProductionExceptionHandler.Response;
import org.apache.kafka.streams.errors.ProductionExceptionHandler.Result;
import org.apache.kafka.streams.errors.internals.DefaultErrorHandlerContext;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ContinueToDeadLettersTest {
    private static final DefaultErrorHandlerContext CONTEXT = new DefaultErrorHandlerContext(
            null, "lendstream.services", 0, 7, new RecordHeaders(), "sink", new TaskId(0, 0), 0, null, null);

    private final RefusedLetters refused = new RefusedLetters();
    private final ContinueToDeadLetters handler = new ContinueToDeadLetters();

    @BeforeEach
    void configure() {
        handler.configure(Map.of(ContinueToDeadLetters.REFUSED_LETTERS, refused));
    }

    @Test
    void aLetterThatIsRefusedIsSentAgainWithoutItsValue() {
        Response response = handler.handleError(CONTEXT, letter(new byte[100]), new RecordTooLargeException());

        assertThat(response.result()).isEqualTo(Result.RESUME);
        assertThat(response.deadLetterQueueRecords()).singleElement().satisfies(again -> {
            assertThat(again.topic()).isEqualTo("lendstream.services-dlq");
            assertThat(again.value()).isEmpty();
            assertThat(new String(
                            again.headers().lastHeader(LetterBounds.CUT_FROM).value(), UTF_8))
                    .isEqualTo("100");
        });
    }

    @Test
    void theSecondCallBackForALetterDoesNotEndTheClient() {
        Response again = handler.handleError(CONTEXT, letter(new byte[100]), new RecordTooLargeException());

        Response response =
                handler.handleError(CONTEXT, again.deadLetterQueueRecords().get(0), new RecordTooLargeException());

        assertThat(response.result()).isEqualTo(Result.RESUME);
        assertThat(response.deadLetterQueueRecords()).isEmpty();
    }

    @Test
    void afterARefusalTheNextAttemptHasNoValue() {
        var values = LetterSerializer.ofValues(LetterBounds.DEFAULT, refused);
        ProducerRecord<byte[], byte[]> letter = letter(new byte[100]);
        assertThat(values.serialize("t", letter.headers(), letter.value())).hasSize(100);

        handler.handleError(CONTEXT, letter, new RecordTooLargeException());

        assertThat(values.serialize("t", letter(new byte[100]).headers(), new byte[100]))
                .isEmpty();
    }

    @Test
    void whatIsNoFaultOfTheRecordEndsTheThread() {
        assertThat(handler.handleError(CONTEXT, letter(new byte[1]), new InvalidTopicException())
                        .result())
                .isEqualTo(Result.FAIL);
        assertThat(handler.handleError(
                                CONTEXT,
                                new ProducerRecord<>("scheduler-domains-changelog", new byte[1]),
                                new RecordTooLargeException())
                        .result())
                .isEqualTo(Result.FAIL);
    }

    @Test
    void noDecisionIsLeftOut() {
        for (String topic : List.of("lendstream.decisions", "lendstream.leases", "lendstream.domain-events")) {
            Response response = handler.handleError(
                    CONTEXT, new ProducerRecord<>(topic, new byte[1]), new RecordTooLargeException());

            assertThat(response.result()).as(topic).isEqualTo(Result.FAIL);
            assertThat(response.deadLetterQueueRecords()).as(topic).isEmpty();
        }
    }

    private static ProducerRecord<byte[], byte[]> letter(byte[] value) {
        Headers headers = new RecordHeaders()
                .add(DeadLetters.TOPIC, "lendstream.services".getBytes(UTF_8))
                .add(DeadLetters.PARTITION, "0".getBytes(UTF_8))
                .add(DeadLetters.OFFSET, "7".getBytes(UTF_8));
        return new ProducerRecord<>("lendstream.services-dlq", null, null, "chat".getBytes(UTF_8), value, headers);
    }
}
