package io.lendstream.schemas.serde;

import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import io.lendstream.schemas.registry.UnreadableSchemaException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DatumReader;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads Avro records in Confluent's wire format, as records of the schema that {@link #READER_SCHEMAS} names for the topic,
 * or as they were written where it names none.
 *
 * <p>What can never be read throws a {@link PoisonRecordException}; a registry that cannot be asked throws a {@link
 * RegistryException} and says nothing about the record.
 */
public final class AvroDeserializer implements Deserializer<GenericRecord> {
    /** A {@code Map<String, Schema>} from topic to the schema its records are wanted in; set by code, not in files. */
    public static final String READER_SCHEMAS = "lendstream.reader.schemas";

    private @Nullable RegistryClient registry;
    private Map<?, ?> readerSchemas = Map.of();
    /** To make one takes as long as to read with it. */
    private final Map<Way, DatumReader<GenericRecord>> readers = new HashMap<>();

    /** From a writer's schema to the one that its topic's records are wanted in. */
    private record Way(int schema, String topic) {}

    /** For Kafka, which calls {@link #configure} next. */
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
            throw new IllegalStateException("AvroDeserializer was not configured; set " + RegistrySettings.URL);
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
                    "the registry cannot give schema id %d: %s".formatted(id, e.getMessage()), e);
        }
        if (schema.getType() != Schema.Type.RECORD) {
            throw new UndecodableRecordException(
                    "schema id %d is of type %s, but a record was expected".formatted(id, schema.getType()), null);
        }
        return schema;
    }
}
