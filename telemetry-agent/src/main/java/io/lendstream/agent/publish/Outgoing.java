package io.lendstream.agent.publish;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.registry.IncompatibleSchemaException;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.serde.AvroSerializer;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.WireSchemas;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;

/** Converts a queued record to its final form, with the registry's help. */
final class Outgoing {
    /** The header with remarks on how a record was made. */
    static final String REMARKS = "lendstream.remarks";

    private static final int UNPROCESSABLE = 422;

    private final SchemaShelf schemas;
    private final TopicCatalogue topics;
    private final String source;
    private final Map<Topic<?>, Long> fingerprints = new HashMap<>();

    /** @param source the writer as a CloudEvents source */
    Outgoing(SchemaShelf schemas, TopicCatalogue topics, String source) {
        this.schemas = schemas;
        this.topics = topics;
        this.source = source;
    }

    /**
     * Converts a record for the broker.
     *
     * @throws UndeliverableException if that can never succeed
     * @throws RuntimeException if it fails now, because the registry does not answer or refuses this agent
     */
    ProducerRecord<byte[], byte[]> of(byte[] bytes, Serializer<GenericRecord> serializer)
            throws UndeliverableException {
        Waiting waiting;
        Topic<?> topic;
        try {
            waiting = Waiting.of(bytes);
            topic = topic(waiting.topic());
        } catch (IOException | RuntimeException e) {
            throw new UndeliverableException("a queued record cannot be read: " + e, e);
        }
        var headers = new RecordHeaders();
        new CloudEventHeaders(waiting.id(), source, WireSchemas.NAMESPACE + "." + topic.recordName(), waiting.at())
                .applyTo(headers);
        if (!waiting.remarks().isEmpty()) {
            headers.add(REMARKS, waiting.remarks().getBytes(StandardCharsets.UTF_8));
        }
        String to = topics.target(topic);
        byte[] key = waiting.key().getBytes(StandardCharsets.UTF_8);
        return new ProducerRecord<>(to, null, null, key, value(waiting, topic, to, headers, serializer), headers);
    }

    private byte[] value(
            Waiting waiting, Topic<?> topic, String to, RecordHeaders headers, Serializer<GenericRecord> serializer)
            throws UndeliverableException {
        try {
            if (serializer instanceof AvroSerializer ours && isOfNow(waiting, topic)) {
                Optional<byte[]> framed = ours.framed(to, Codecs.schema(topic), waiting.body());
                if (framed.isPresent()) {
                    return framed.get();
                } // the registry's newest schema differs, so the record is decoded
            }
            return serializer.serialize(to, headers, read(waiting, topic));
        } catch (RuntimeException e) {
            if (isFinal(e)) {
                throw new UndeliverableException(
                        "a record cannot be written to %s: %s".formatted(to, e.getMessage()), e);
            }
            throw e;
        }
    }

    private GenericRecord read(Waiting waiting, Topic<?> topic) throws UndeliverableException {
        try {
            return AvroBytes.read(waiting.body(), schemas.byFingerprint(waiting.schema()), Codecs.schema(topic));
        } catch (IOException | RuntimeException e) {
            throw new UndeliverableException(
                    "a queued record for %s cannot be read: %s".formatted(topic.suffix(), e), e);
        }
    }

    private static Topic<?> topic(String name) throws IOException {
        return TopicCatalogue.ALL.stream()
                .filter(known -> known.suffix().equals(name))
                .findFirst()
                .orElseThrow(() -> new IOException("unknown topic " + name));
    }

    /** Whether it has this version's schema, so that our own serializer can frame its bytes unchanged. */
    private boolean isOfNow(Waiting waiting, Topic<?> topic) {
        Schema now = Codecs.schema(topic);
        return waiting.schema() == fingerprints.computeIfAbsent(topic, any -> SchemaShelf.fingerprint(now));
    }

    /**
     * Whether a retry would fail in the same way. A registry that is away, fails, or refuses this agent's credentials
     * may accept the record later; a registry that refuses its schema will not, and a record that does not fit its
     * schema never will.
     */
    static boolean isFinal(RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SchemaNotFoundException || cause instanceof IncompatibleSchemaException) {
                return true;
            }
            if (cause instanceof RegistryException refusal) {
                return refusal.status() == UNPROCESSABLE;
            }
            if (cause instanceof IOException || cause instanceof RetriableException) {
                return false;
            }
        }
        return failure instanceof SerializationException
                || failure instanceof AvroRuntimeException
                || failure instanceof ClassCastException
                || failure instanceof NullPointerException;
    }
}
