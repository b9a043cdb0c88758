package io.lendstream.service.kafka;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes undecodable records to the dead letters of their topic, unchanged, with origin and reason in headers.
 * Records too large to send are cut ({@link LetterBounds}).
 */
public final class DeadLetters {
    public static final String TOPIC = "lendstream.origin.topic";
    public static final String PARTITION = "lendstream.origin.partition";
    public static final String OFFSET = "lendstream.origin.offset";
    public static final String TIMESTAMP = "lendstream.origin.timestamp";
    public static final String ERROR_CLASS = "lendstream.error.class";
    public static final String ERROR_MESSAGE = "lendstream.error.message";
    public static final String SERVICE = "lendstream.error.service";

    private static final Logger LOG = LoggerFactory.getLogger(DeadLetters.class);

    private final Consumer<ProducerRecord<byte[], byte[]>> out;
    private final TopicCatalogue topics;
    private final String service;
    private final MeterRegistry metrics;
    private final LetterBounds bounds;

    /**
     * Dead letters of one service, for a producer with Kafka's default {@code max.request.size}.
     *
     * @param out sends a letter; it must throw for a letter it cannot send, so that no record is lost silently
     */
    public DeadLetters(
            Consumer<ProducerRecord<byte[], byte[]>> out,
            TopicCatalogue topics,
            String service,
            MeterRegistry metrics) {
        this(out, topics, service, metrics, LetterBounds.DEFAULT);
    }

    /**
     * Dead letters of one service.
     *
     * @param out sends a letter; it must throw for a letter it cannot send, so that no record is lost silently
     * @param bounds sizes that {@code out} can send
     */
    public DeadLetters(
            Consumer<ProducerRecord<byte[], byte[]>> out,
            TopicCatalogue topics,
            String service,
            MeterRegistry metrics,
            LetterBounds bounds) {
        this.out = out;
        this.topics = topics;
        this.service = service;
        this.metrics = metrics;
        this.bounds = bounds;
    }

    /** The count of a topic's letters; it is 0 from the first call on, so that an alert sees the first letter. */
    Counter count(String topic) {
        return metrics.counter("lendstream.dead.letters", "topic", topic);
    }

    /** Writes a record to the dead letters. */
    public void put(Topic<?> topic, ConsumerRecord<byte[], byte[]> record, Throwable why) {
        LOG.warn(
                "record {}-{}@{} was written to {}: {}",
                record.topic(),
                record.partition(),
                record.offset(),
                topics.deadLetters(topic),
                LetterBounds.shortened(String.valueOf(why.getMessage())));
        count(record.topic()).increment();
        out.accept(bounds.fit(letter(topics.deadLetters(topic), record, why, service)));
    }

    /**
     * The complete letter for a record in a dead-letter topic; {@link LetterBounds#fit} then cuts it to a size that
     * can be sent.
     */
    public static ProducerRecord<byte[], byte[]> letter(
            String deadLetters, ConsumerRecord<byte[], byte[]> record, Throwable why, String service) {
        Headers headers = new RecordHeaders(record.headers());
        set(headers, TOPIC, record.topic());
        set(headers, PARTITION, Integer.toString(record.partition()));
        set(headers, OFFSET, Long.toString(record.offset()));
        set(headers, TIMESTAMP, Long.toString(record.timestamp()));
        set(headers, ERROR_CLASS, why.getClass().getName());
        set(headers, ERROR_MESSAGE, String.valueOf(why.getMessage()));
        set(headers, SERVICE, service);
        return new ProducerRecord<>(deadLetters, null, null, record.key(), record.value(), headers);
    }

    private static void set(Headers headers, String name, String value) {
        headers.remove(name);
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }
}
