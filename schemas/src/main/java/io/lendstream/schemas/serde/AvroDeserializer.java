package io.lendstream.schemas.serde;

import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import io.lendstream.schemas.registry.UnreadableSchemaException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DatumReader;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads Avro records in Confluent's wire format. The result has the topic's schema from {@link #READER_SCHEMAS}, or
 * the writer's schema if the topic has none there.
 *
 * <p>A record that can never be read throws a {@link PoisonRecordException}. A registry that does not answer throws a
 * {@link RegistryException}, which is no statement about the record. Several threads may read with one deserializer:
 * Kafka Streams gives one serde to all its threads.
 */
public final class AvroDeserializer implements Deserializer<GenericRecord> {
    /** A {@code Map<String, Schema>} from topic to reader schema; set by code, not in files. */
    public static final String READER_SCHEMAS = "lendstream.reader.schemas";

    private @Nullable RegistryClient registry;
    private Map<?, ?> readerSchemas = Map.of();
    /** Cached readers: creating one takes as long as reading a record with it. */
    private final Map<Way, DatumReader<GenericRecord>> readers = new ConcurrentHashMap<>();

    /** The way from a writer's schema to the reader schema of a topic. */
    private record Way(int schema, String topic) {}

    /** Used by Kafka, which calls {@link #configure} next. */
    public AvroDeserializer() {}

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        registry = RegistryClient.shared(RegistrySettings.from(configs));
        readerSchemas = configs.get(READER_SCHEMAS) instanceof Map<?, ?> schemas ? schemas : Map.of();
    }

    @Override
    public @Nullable GenericRecord deserialize(String topic, byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        RegistryClient client = registry;
        if (client == null) {
            throw new IllegalStateException("AvroDeserializer is not configured; set " + RegistrySettings.URL);
        }
        int id = WireFormat.schemaId(value);
        Schema writer = writer(client, id);
        Schema reader = readerSchemas.get(topic) instanceof Schema wanted ? wanted : writer;
        try {
            return AvroBytes.read(value, WireFormat.HEADER_BYTES, readers.computeIfAbsent(new Way(id, topic), any -> {
                WriterSchema.check(writer);
                return AvroBytes.reader(writer, reader);
            }));
        } catch (IOException | RuntimeException | StackOverflowError e) {
            throw new UndecodableRecordException(
                    "%d bytes from %s do not read as %s (schema id %d) resolved to %s: %s"
                            .formatted(value.length, topic, writer.getFullName(), id, reader.getFullName(), e),
                    e);
        }
    }

    private static Schema writer(RegistryClient client, int id) {
        Schema schema;
        try {
            schema = client.schemaById(id);
        } catch (SchemaNotFoundException | UnreadableSchemaException e) {
            throw new UnknownSchemaException(
                    "the registry does not return schema id %d: %s".formatted(id, e.getMessage()), e);
        }
        if (schema.getType() != Schema.Type.RECORD) {
            throw new UndecodableRecordException(
                    "schema id %d is of type %s, but a record was expected".formatted(id, schema.getType()), null);
        }
        return schema;
    }
}
