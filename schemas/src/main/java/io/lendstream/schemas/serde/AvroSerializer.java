package io.lendstream.schemas.serde;

import io.lendstream.schemas.registry.RegisteredSchema;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes Avro records in Confluent's wire format. The properties determine the schema ID, as with Confluent's
 * serializer: {@code auto.register.schemas} (default true) registers the record's schema; {@code use.latest.version}
 * writes with the subject's newest version; without either, the record's schema must be registered already.
 */
public final class AvroSerializer implements Serializer<GenericRecord> {
    public static final String AUTO_REGISTER = "auto.register.schemas";
    public static final String USE_LATEST = "use.latest.version";

    private @Nullable RegistryClient registry;
    private SubjectNaming naming = SubjectNaming.TopicNameStrategy;
    private boolean key;
    private boolean autoRegister = true;
    private boolean useLatest;
    private final ConcurrentHashMap<String, RegisteredSchema> latest = new ConcurrentHashMap<>();

    /** Used by Kafka, which calls {@link #configure} next. */
    public AvroSerializer() {}

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        registry = RegistryClient.shared(RegistrySettings.from(configs));
        naming = SubjectNaming.from(configs, isKey);
        key = isKey;
        autoRegister = flag(configs, AUTO_REGISTER, true);
        useLatest = flag(configs, USE_LATEST, false);
    }

    @Override
    public byte @Nullable [] serialize(String topic, @Nullable GenericRecord record) {
        if (record == null) {
            return null;
        }
        RegistryClient client = registry;
        if (client == null) {
            throw new IllegalStateException("AvroSerializer is not configured; set " + RegistrySettings.URL);
        }
        String subject = naming.subject(topic, key, record.getSchema());
        if (autoRegister) {
            return framed(client.register(subject, record.getSchema()), record, subject);
        }
        if (useLatest) {
            RegisteredSchema newest = latest(client, subject, record.getSchema());
            return framed(newest.id(), AvroBytes.resolve(record, newest.schema()), subject);
        }
        return framed(client.idOf(subject, record.getSchema()), record, subject);
    }

    /**
     * Frames a record that is in Avro's binary form already, without decoding it. Empty if it must be decoded,
     * because another schema is wanted.
     *
     * @param schema the schema that {@code body} was written with
     */
    public Optional<byte[]> framed(String topic, Schema schema, byte[] body) {
        RegistryClient client = registry;
        if (client == null) {
            throw new IllegalStateException("AvroSerializer is not configured; set " + RegistrySettings.URL);
        }
        String subject = naming.subject(topic, key, schema);
        if (autoRegister) {
            return Optional.of(WireFormat.framed(client.register(subject, schema), body));
        }
        if (useLatest) {
            RegisteredSchema newest = latest(client, subject, schema);
            return newest.schema().equals(schema)
                    ? Optional.of(WireFormat.framed(newest.id(), body))
                    : Optional.empty();
        }
        return Optional.of(WireFormat.framed(client.idOf(subject, schema), body));
    }

    private RegisteredSchema latest(RegistryClient client, String subject, Schema wanted) {
        RegisteredSchema known = latest.get(subject);
        if (known != null) {
            return known;
        }
        RegisteredSchema newest = client.latest(subject)
                .orElseThrow(() -> new SerializationException(
                        "subject %s has no version, but %s requires the latest; register %s first, with 'lendstream schemas register'"
                                .formatted(subject, USE_LATEST, wanted.getFullName())));
        latest.put(subject, newest);
        return newest;
    }

    private static byte[] framed(int schemaId, GenericRecord record, String subject) {
        try {
            return AvroBytes.write(WireFormat.header(schemaId), record);
        } catch (RuntimeException e) {
            throw new SerializationException(
                    "a record cannot be written with its own schema %s for subject %s: %s"
                            .formatted(record.getSchema().getFullName(), subject, e.getMessage()),
                    e);
        }
    }

    private static boolean flag(Map<String, ?> configs, String name, boolean otherwise) {
        Object value = configs.get(name);
        if (value == null) {
            return otherwise;
        }
        String text = value.toString().strip();
        if (text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")) {
            return Boolean.parseBoolean(text);
        }
        throw new IllegalArgumentException("%s must be true or false, but was '%s'".formatted(name, text));
    }
}
