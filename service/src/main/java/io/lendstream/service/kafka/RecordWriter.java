package io.lendstream.service.kafka;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.WireSchemas;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** Writes records of our topics with CloudEvents headers, and tracks the positions that it has written. */
public final class RecordWriter implements AutoCloseable {
    private final Producer<byte[], byte[]> producer;
    private final Serializer<GenericRecord> serializer;
    private final TopicCatalogue topics;
    private final String source;
    private final String boot = UUID.randomUUID().toString().substring(0, 8);
    private final Map<String, Long> positions = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private long written;

    /**
     * A writer over a client.
     *
     * @param source the writer as a CloudEvents source: {@code /lendstream/actuator/east}
     */
    public RecordWriter(
            Producer<byte[], byte[]> producer,
            Serializer<GenericRecord> serializer,
            TopicCatalogue topics,
            String source) {
        this.producer = producer;
        this.serializer = serializer;
        this.topics = topics;
        this.source = source;
    }

    /** A writer with a client of its own. */
    public static RecordWriter open(KafkaSettings kafka, TopicCatalogue topics, String source) {
        return open(kafka, kafka.producer(), topics, source);
    }

    /** A writer with a client of its own and these properties. */
    public static RecordWriter open(
            KafkaSettings kafka, Map<String, Object> properties, TopicCatalogue topics, String source) {
        return new RecordWriter(
                new KafkaProducer<>(properties), SerdeFactory.of(kafka.serdes()).serializer(), topics, source);
    }

    /**
     * A writer with a client of its own that writes in transactions. A client opened earlier under the same name is
     * fenced: it can write nothing further, not even records in flight, and readers do not see its uncommitted
     * records.
     *
     * @param properties the client's, with a {@code transactional.id}
     */
    public static RecordWriter openTransactional(
            KafkaSettings kafka, Map<String, Object> properties, TopicCatalogue topics, String source) {
        var producer = new KafkaProducer<byte[], byte[]>(properties);
        try {
            producer.initTransactions();
        } catch (RuntimeException e) {
            producer.close(Duration.ZERO);
            throw e;
        }
        return new RecordWriter(producer, SerdeFactory.of(kafka.serdes()).serializer(), topics, source);
    }

    /** Runs a task whose records are written all or none; for a transactional writer. Throws if the commit fails. */
    public void inTransaction(Runnable writes) {
        check();
        producer.beginTransaction();
        writes.run();
        producer.flush();
        check();
        producer.commitTransaction();
        check();
    }

    /** Passes a record to the client; {@link #flush} waits until it is written. */
    public <T> void write(Topic<T> topic, String key, T value) {
        send(record(topic, key, value));
    }

    /** A record that is ready to be sent. */
    public <T> ProducerRecord<byte[], byte[]> record(Topic<T> topic, String key, T value) {
        Headers headers = new RecordHeaders();
        Instant time = EventTimes.of(value).orElse(Instant.EPOCH);
        written++;
        new CloudEventHeaders(boot + "-" + written, source, WireSchemas.NAMESPACE + "." + topic.recordName(), time)
                .applyTo(headers);
        String name = topics.target(topic);
        byte[] bytes = serializer.serialize(name, headers, Codecs.encode(topic, value));
        return new ProducerRecord<>(name, null, null, bytes(key), bytes, headers);
    }

    /** Writes a tombstone, which deletes a key. */
    public void delete(Topic<?> topic, String key) {
        send(new ProducerRecord<>(topics.target(topic), null, null, bytes(key), null, new RecordHeaders()));
    }

    /** Writes a record of another kind, such as a dead letter. */
    @SuppressWarnings("FutureReturnValueIgnored") // sent() receives every outcome
    public void send(ProducerRecord<byte[], byte[]> record) {
        check();
        producer.send(record, this::sent);
    }

    /** Waits until all records are written; throws if any was not. */
    public void flush() {
        producer.flush();
        check();
    }

    /** The exclusive end of the written records in each {@code topic-partition}. */
    public Map<String, Long> positions() {
        return new TreeMap<>(positions);
    }

    /** The client, for its metrics. */
    public Producer<byte[], byte[]> client() {
        return producer;
    }

    /** Closes the client at once; unwritten records are abandoned. */
    public void abandon() {
        producer.close(Duration.ZERO);
        serializer.close();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
        serializer.close();
    }

    private void sent(@Nullable RecordMetadata written, @Nullable Exception failed) {
        if (failed != null) {
            failure.compareAndSet(null, failed);
        } else if (written != null && written.hasOffset()) {
            positions.merge(
                    new TopicPartition(written.topic(), written.partition()).toString(),
                    written.offset() + 1,
                    Math::max);
        }
    }

    private void check() {
        Exception failed = failure.get();
        if (failed != null) {
            throw new WriteFailedException("a record could not be written: " + failed.getMessage(), failed);
        }
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }
}
