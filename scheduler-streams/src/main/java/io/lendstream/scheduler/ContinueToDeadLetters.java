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
 * What happens when a broker does not take a record. A dead letter is sent again without its value, and the stream goes on, for it
 * would stop at the same record after every restart. Everything else ends the thread: without a decision, a lease, an entry of the log
 * or a change of state that the step has made, others would no longer know what the scheduler did. The next attempt begins at
 * the last commit.
 */
public final class ContinueToDeadLetters implements ProductionExceptionHandler {
    /** The {@link RefusedLetters} of the process, among the properties of the Streams application. */
    static final String REFUSED_LETTERS = "lendstream.refused.letters";

    private static final Logger log = LoggerFactory.getLogger(ContinueToDeadLetters.class);

    private RefusedLetters refused = new RefusedLetters();

    /** For Kafka Streams, which calls {@link #configure} next. */
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
                "a record for {} was refused by the broker; lower kafka.producer.max.request.size to what the brokers take",
                record.topic(),
                exception);
        return Response.fail();
    }

    /**
     * A letter is sent again without its value. A transactional producer aborts at the first refusal and calls back for every
     * record of the transaction, also for the letter without a value: that is no reason to end the client. The thread is
     * replaced, reads the records again, and sends the refused letters without their values.
     */
    private Response refusedLetter(ProducerRecord<byte[], byte[]> letter, Exception exception) {
        refused.add(letter.headers());
        byte[] value = letter.value();
        if (value == null || value.length == 0) {
            log.error("a dead letter without a value was refused by {}", letter.topic(), exception);
            return Response.resume();
        }
        log.error(
                "a dead letter of {} bytes was refused by {} and is sent without its value; lower kafka.producer.max.request.size to what the brokers take",
                value.length,
                letter.topic(),
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
        // All our serializers take bytes as they are.
        return Response.fail();
    }
}
