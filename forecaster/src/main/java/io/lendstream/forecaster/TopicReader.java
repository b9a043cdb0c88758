package io.lendstream.forecaster;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Limits;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.AvroDeserializer;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.EventTimes;
import io.lendstream.service.kafka.OversizeRecordException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a topic's core records. Undecodable records are poison. A registry that does not answer is an error, after
 * which the job restarts from its last checkpoint.
 *
 * @param <T> the core record
 * @param <O> the job's record type
 */
abstract class TopicReader<T, O> implements KafkaRecordDeserializationSchema<O> {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(TopicReader.class);

    private final TreeMap<String, String> properties;
    private final String prefix;
    private final String intakes;
    private final Duration maxClockSkew;
    private final RateReader.Clock clock;
    private final long maxRecordBytes;
    private transient @Nullable Deserializer<GenericRecord> deserializer;
    private transient @Nullable TopicCatalogue topics;

    /** @param maxRecordBytes limit of a record's key, value and headers together, after decompression */
    TopicReader(
            Map<String, String> properties,
            TopicCatalogue topics,
            Duration maxClockSkew,
            RateReader.Clock clock,
            long maxRecordBytes) {
        this.properties = new TreeMap<>(properties);
        this.prefix = topics.prefix();
        this.intakes = topics.intakes().toString();
        this.maxClockSkew = maxClockSkew;
        this.clock = clock;
        this.maxRecordBytes = maxRecordBytes;
    }

    abstract Topic<T> topic();

    /** Converts a record; throws IllegalArgumentException if its values are impossible. */
    abstract O read(T value);

    /** A record without a value. */
    abstract void deleted(ConsumerRecord<byte[], byte[]> record, Collector<O> out);

    abstract void poison(ConsumerRecord<byte[], byte[]> record, RuntimeException why, Collector<O> out);

    @Override
    public void open(DeserializationSchema.InitializationContext context) {
        deserializer = SerdeFactory.of(properties)
                .reading(Codecs.readerSchemas(topics()))
                .deserializer();
        if (deserializer instanceof AvroDeserializer) {
            learnSchemas();
        }
    }

    /** How often unknown schema IDs are looked up: records with such IDs must not delay valid ones. */
    private void learnSchemas() {
        RegistryClient registry = RegistryClient.shared(RegistrySettings.from(properties));
        try {
            new SchemaSet(registry, topics()).learn(topic());
        } catch (RegistryException e) {
            LOG.warn(
                    "the registry does not return the schemas of {} ({}); each schema is requested again when a record needs it",
                    topics().name(topic()),
                    e.getMessage());
        }
    }

    /** The site's topics; not serialized with the job. */
    final TopicCatalogue topics() {
        TopicCatalogue known = topics;
        if (known == null) {
            known = new TopicCatalogue(prefix, Intakes.parse(intakes), Optional.empty());
            topics = known;
        }
        return known;
    }

    @Override
    public final void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<O> out) {
        try {
            OversizeRecordException.check(record, maxRecordBytes);
            checkKey(record.key());
        } catch (OversizeRecordException | IllegalArgumentException e) {
            poison(record, e, out);
            return;
        }
        if (record.value() == null) {
            deleted(record, out);
            return;
        }
        Deserializer<GenericRecord> reader = deserializer;
        if (reader == null) {
            throw new IllegalStateException("the reader of %s is not open".formatted(topic()));
        }
        O read;
        try {
            T value = Codecs.decode(
                    topic(), reader.deserialize(record.topic(), record.value()), Strictness.intake(topic()));
            if (value instanceof Event event) {
                topics().check(record.topic(), event.domain());
            }
            EventTimes.check(value, clock.now(), maxClockSkew);
            read = read(value);
        } catch (SerializationException | IllegalArgumentException e) {
            if (!PoisonRecordException.causes(e) && unreachable(e)) {
                throw e;
            }
            poison(record, e, out);
            return;
        }
        out.collect(read);
    }

    /** The key must be a valid name, as for the scheduler: a record that the scheduler refuses must not count here. */
    private void checkKey(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("a record of %s needs a key (%s), but has none; write it with its key"
                    .formatted(topic(), topic().key()));
        }
        // Bytes that are not UTF-8 decode to U+FFFD, which is no character of a name.
        Limits.name("the record's key", new String(key, StandardCharsets.UTF_8));
    }

    /** Whether a foreign registry client failed for want of a connection, so that the record is not at fault. */
    private static boolean unreachable(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof SocketException
                    || at instanceof SocketTimeoutException
                    || at instanceof UnknownHostException) {
                return true;
            }
        }
        return false;
    }
}
