package io.lendstream.service.kafka;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Origin;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.Deserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads whole topics, from their beginning or from saved positions, and passes each record to its topic's handler.
 *
 * <p>Undecodable records (foreign format, unknown schema, out of bounds, from the future) go to the dead letters, and
 * reading continues. While the registry does not answer, reading pauses at the record that needs it, and each poll
 * retries that record.
 */
public final class RecordReader implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RecordReader.class);

    private final Consumer<byte[], byte[]> consumer;
    private final Deserializer<GenericRecord> deserializer;
    private final TopicCatalogue topics;
    private final DeadLetters deadLetters;
    private final Duration maxClockSkew;
    private final long maxRecordBytes;
    private final InstantSource wallClock;
    private final Map<String, Route<?>> routes = new LinkedHashMap<>();
    private final Map<TopicPartition, Long> endsAtStart = new HashMap<>();
    private Optional<String> trouble = Optional.empty();
    private boolean standsStill;
    private boolean clamping;

    private record Route<T>(Topic<T> topic, java.util.function.Consumer<Received<T>> to) {}

    /**
     * A reader over a client.
     *
     * @param deserializer decodes records with the topics' own schemas, or schemas compatible with them
     * @param maxClockSkew how far a record's time may be ahead of {@code wallClock}
     */
    public RecordReader(
            Consumer<byte[], byte[]> consumer,
            Deserializer<GenericRecord> deserializer,
            TopicCatalogue topics,
            DeadLetters deadLetters,
            Duration maxClockSkew,
            InstantSource wallClock) {
        this(consumer, deserializer, topics, deadLetters, maxClockSkew, Long.MAX_VALUE, wallClock);
    }

    /**
     * A reader over a client that does not decode records above a size limit.
     *
     * @param deserializer decodes records with the topics' own schemas, or schemas compatible with them
     * @param maxClockSkew how far a record's time may be ahead of {@code wallClock}
     * @param maxRecordBytes limit of a record's key, value and headers together, after decompression
     */
    public RecordReader(
            Consumer<byte[], byte[]> consumer,
            Deserializer<GenericRecord> deserializer,
            TopicCatalogue topics,
            DeadLetters deadLetters,
            Duration maxClockSkew,
            long maxRecordBytes,
            InstantSource wallClock) {
        this.consumer = consumer;
        this.deserializer = deserializer;
        this.topics = topics;
        this.deadLetters = deadLetters;
        this.maxClockSkew = maxClockSkew;
        this.maxRecordBytes = maxRecordBytes;
        this.wallClock = wallClock;
    }

    /** A reader with a client of its own, without a size limit. */
    public static RecordReader open(
            KafkaSettings kafka, TopicCatalogue topics, DeadLetters deadLetters, Duration maxClockSkew) {
        return open(kafka, topics, deadLetters, maxClockSkew, Long.MAX_VALUE);
    }

    /** A reader with a client of its own that does not decode records above {@code maxRecordBytes}. */
    public static RecordReader open(
            KafkaSettings kafka,
            TopicCatalogue topics,
            DeadLetters deadLetters,
            Duration maxClockSkew,
            long maxRecordBytes) {
        Deserializer<GenericRecord> deserializer = SerdeFactory.of(kafka.serdes())
                .reading(Codecs.readerSchemas(topics))
                .deserializer();
        return new RecordReader(
                new KafkaConsumer<>(kafka.consumer()),
                deserializer,
                topics,
                deadLetters,
                maxClockSkew,
                maxRecordBytes,
                InstantSource.system());
    }

    /** Clamps out-of-bounds values and accepts every key, for observers that make no decisions. */
    public RecordReader clamping() {
        clamping = true;
        return this;
    }

    /** Sets the handler of a topic, including the same topic of every intake; to be called before {@link #start}. */
    public <T> RecordReader handing(Topic<T> topic, java.util.function.Consumer<Received<T>> to) {
        topics.names(topic).forEach(name -> {
            routes.put(name, new Route<>(topic, to));
            deadLetters.count(name);
        });
        return this;
    }

    /**
     * Starts at the given positions; partitions without a valid position are read from their beginning.
     *
     * @param positions the next offset of each {@code topic-partition}
     */
    public void start(Map<String, Long> positions) {
        var partitions = new ArrayList<TopicPartition>();
        for (String name : routes.keySet()) {
            List<PartitionInfo> found = consumer.partitionsFor(name);
            if (found == null || found.isEmpty()) {
                throw new UnreachableException(
                        "topic %s does not exist. Create it with 'lendstream topics create', or correct topic-prefix."
                                .formatted(name),
                        null);
            }
            found.forEach(partition -> partitions.add(new TopicPartition(name, partition.partition())));
        }
        consumer.assign(partitions);
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        for (TopicPartition partition : partitions) {
            long beginning = beginnings.getOrDefault(partition, 0L);
            long end = ends.getOrDefault(partition, beginning);
            long wanted = positions.getOrDefault(partition.toString(), beginning);
            if (wanted > end) {
                LOG.warn(
                        "{} ends at {}, before its saved position {}: reading it from the beginning",
                        partition,
                        end,
                        wanted);
            }
            consumer.seek(partition, wanted < beginning || wanted > end ? beginning : wanted);
            endsAtStart.put(partition, end);
        }
    }

    /** Handles the records that have arrived, and waits up to a time for the first; returns their number. */
    public int poll(Duration patience) {
        ConsumerRecords<byte[], byte[]> batch = consumer.poll(patience);
        trouble = Optional.empty();
        int handed = 0;
        for (TopicPartition partition : batch.partitions()) {
            for (ConsumerRecord<byte[], byte[]> record : batch.records(partition)) {
                Route<?> route = routes.get(record.topic());
                if (route == null) {
                    continue;
                }
                if (!hand(route, record)) {
                    consumer.seek(partition, record.offset());
                    break;
                }
                handed++;
            }
        }
        if (standsStill && trouble.isEmpty() && handed > 0) {
            standsStill = false;
            LOG.info("the registry answers again: reading continues");
        }
        return handed;
    }

    /** Whether all records that existed at the start have been read. */
    public boolean hasCaughtUp() {
        return endsAtStart.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }

    /** Whether all records up to the given positions have been read; positions of other topics are ignored. */
    public boolean hasRead(Map<String, Long> positions) {
        return consumer.assignment().stream().allMatch(partition -> {
            long written = positions.getOrDefault(partition.toString(), 0L);
            return written == 0 || consumer.position(partition) >= written;
        });
    }

    /** The next offset of each {@code topic-partition}, for a later {@link #start}. */
    public Map<String, Long> positions() {
        var positions = new TreeMap<String, Long>();
        consumer.assignment().forEach(partition -> positions.put(partition.toString(), consumer.position(partition)));
        return positions;
    }

    /** The next offsets of one topic's partitions. */
    public Map<String, Long> positions(Topic<?> topic) {
        var positions = new TreeMap<String, Long>();
        consumer.assignment().stream()
                .filter(partition -> topics.names(topic).contains(partition.topic()))
                .forEach(partition -> positions.put(partition.toString(), consumer.position(partition)));
        return positions;
    }

    /** The present ends of one topic's partitions, for {@link #hasRead}. */
    public Map<String, Long> ends(Topic<?> topic) {
        List<TopicPartition> partitions = consumer.assignment().stream()
                .filter(partition -> topics.names(topic).contains(partition.topic()))
                .toList();
        var ends = new TreeMap<String, Long>();
        consumer.endOffsets(partitions).forEach((partition, end) -> ends.put(partition.toString(), end));
        return ends;
    }

    /** Whether the brokers of all partitions answer within a time. */
    public boolean isAnswered(Duration patience) {
        try {
            consumer.endOffsets(consumer.assignment(), patience);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** Why reading is paused; empty if it is not. */
    public Optional<String> trouble() {
        return trouble;
    }

    /** Makes a waiting {@link #poll} end with an exception of Kafka's; safe for other threads. */
    public void wakeUp() {
        consumer.wakeup();
    }

    /** The client, for its metrics. */
    public Consumer<byte[], byte[]> client() {
        return consumer;
    }

    @Override
    public void close() {
        consumer.close();
        deserializer.close();
    }

    /** Handles a record; returns false while the registry does not answer. */
    private <T> boolean hand(Route<T> route, ConsumerRecord<byte[], byte[]> record) {
        String key;
        Optional<T> value;
        try {
            OversizeRecordException.check(record, maxRecordBytes);
            key = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
            value = decode(route, record);
            if (value.isEmpty() || strictness(route.topic) == Strictness.REFUSE) {
                UnusableKeyException.check(key, strictness(route.topic));
            }
        } catch (SerializationException | RegistryException e) {
            if (isPoison(e)) {
                deadLetters.put(route.topic, record, e);
                return true;
            }
            if (!standsStill) {
                standsStill = true;
                LOG.warn("reading {} is paused until the registry answers: {}", record.topic(), e.getMessage());
            }
            trouble = Optional.of("the registry does not answer: " + e.getMessage());
            return false;
        }
        route.to.accept(new Received<>(
                key,
                value,
                new Origin(record.topic(), record.partition(), record.offset()),
                Instant.ofEpochMilli(record.timestamp())));
        return true;
    }

    private Strictness strictness(Topic<?> topic) {
        return clamping ? Strictness.CLAMP : Strictness.intake(topic);
    }

    private <T> Optional<T> decode(Route<T> route, ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            return Optional.empty();
        }
        GenericRecord avro = deserializer.deserialize(record.topic(), record.headers(), record.value());
        T value = Codecs.decode(route.topic, avro, strictness(route.topic));
        if (value instanceof Event event) {
            topics.check(record.topic(), event.domain());
        }
        EventTimes.check(value, wallClock.instant(), maxClockSkew);
        return Optional.of(value);
    }

    /** Whether a retry cannot succeed. Deserializers of others signal this by an error without a connection failure. */
    private static boolean isPoison(RuntimeException failure) {
        if (PoisonRecordException.causes(failure)) {
            return true;
        }
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof IOException || at instanceof RegistryException) {
                return false;
            }
        }
        return true;
    }
}
