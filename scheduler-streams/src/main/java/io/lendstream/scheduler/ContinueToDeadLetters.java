package io.lendstream.scheduler;

import io.lendstream.service.kafka.LetterBounds;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles records that the broker refuses. A dead letter is sent again without its value and the stream continues,
 * because it would otherwise stop at the same record after every restart. Any other refusal ends the thread: without
 * the decision, lease, log entry or state change, other services would not know what the scheduler did. The next
 * attempt starts at the last commit.
 */
public final class ContinueToDeadLetters implements ProductionExceptionHandler {
    /** The {@link RefusedLetters} of the process, as a property of the Streams application. */
    static final String REFUSED_LETTERS = "lendstream.refused.letters";

    private static final Logger log = LoggerFactory.getLogger(ContinueToDeadLetters.class);

    private RefusedLetters refused = new RefusedLetters();

    /** Called by Kafka Streams, which calls {@link #configure} next. */
    public ContinueToDeadLetters() {}

    @Override
    public void configure(Map<String, ?> configs) {
        if (configs.get(REFUSED_LETTERS) instanceof RefusedLetters shared) {
            refused = shared;
        }
    }

    @Override
    public Response handleError(
            ErrorHandlerContext context, ProducerRecord<byte[], byte[]> record, Exception exception) {
        if (exception instanceof RetriableException) {
            return Response.retry();
        }
        if (!(exception instanceof RecordTooLargeException) && !(exception instanceof SerializationException)) {
            return Response.fail();
        }
        if (record.topic().endsWith("-dlq")) {
            return refusedLetter(record, exception);
        }
        log.error(
                "a record for {} was refused; if it is too large, lower kafka.producer.max.request.size to the broker's limit (message.max.bytes)",
                record.topic(),
                exception);
        return Response.fail();
    }

    /**
     * Remembers the letter, so that its next attempt has no value. A transactional producer aborts at the first
     * refusal and calls back for every record of the transaction, including the letter without its value; that does
     * not end the client. The thread is replaced, reads the records again, and sends the refused letters without
     * their values.
     */
    private Response refusedLetter(ProducerRecord<byte[], byte[]> letter, Exception exception) {
        refused.add(letter.headers());
        byte[] value = letter.value();
        if (value == null || value.length == 0) {
            log.error("topic {} refused a dead letter even without its value", letter.topic(), exception);
            return Response.resume();
        }
        log.error(
                "a dead letter was refused by topic {} and is sent again without its value ({} bytes); if it is too large, lower kafka.producer.max.request.size to the broker's limit (message.max.bytes)",
                letter.topic(),
                value.length,
                exception);
        Headers headers = new RecordHeaders(letter.headers());
        byte[] nothing = LetterBounds.withoutValue(value, headers);
        return Response.resume(
                List.of(new ProducerRecord<>(letter.topic(), null, null, letter.key(), nothing, headers)));
    }

    @Override
    @SuppressWarnings("rawtypes") // Kafka's signature
    public Response handleSerializationError(
            ErrorHandlerContext context,
            ProducerRecord record,
            Exception exception,
            SerializationExceptionOrigin origin) {
        // All our serializers pass bytes through unchanged.
        return Response.fail();
    }
}
