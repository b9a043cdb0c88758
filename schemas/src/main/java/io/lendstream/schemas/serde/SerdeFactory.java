package io.lendstream.schemas.serde;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Creates the serializers that a site names in {@code value.serializer} and {@code value.deserializer}. The default
 * is ours; another is Confluent's {@code io.confluent.kafka.serializers.KafkaAvroSerializer}. All of them get {@link
 * GenericRecord}s and the same properties.
 */
public final class SerdeFactory {
    public static final String SERIALIZER = "value.serializer";
    public static final String DESERIALIZER = "value.deserializer";

    private final Map<String, Object> properties;

    private SerdeFactory(Map<String, Object> properties) {
        this.properties = properties;
    }

    /**
     * A factory for a client's serializers.
     *
     * @param properties a Kafka client's properties, including those of the registry
     */
    public static SerdeFactory of(Map<String, ?> properties) {
        Map<String, Object> copy = new TreeMap<>();
        properties.forEach((name, value) -> {
            if (value != null) {
                copy.put(name, value);
            }
        });
        return new SerdeFactory(copy);
    }

    /**
     * A factory whose deserializers return each topic's records in a reader schema. Foreign deserializers ignore it
     * and may return the writer's schema; {@link AvroBytes#resolve} converts such records.
     */
    public SerdeFactory reading(Map<String, Schema> readerSchemaByTopic) {
        Map<String, Object> more = new TreeMap<>(properties);
        more.put(AvroDeserializer.READER_SCHEMAS, Map.copyOf(readerSchemaByTopic));
        return new SerdeFactory(more);
    }

    public Serializer<GenericRecord> serializer() {
        @SuppressWarnings("unchecked") // Kafka's serializers of Object or GenericRecord take a GenericRecord
        Serializer<GenericRecord> serializer =
                (Serializer<GenericRecord>) instance(SERIALIZER, Serializer.class, AvroSerializer.class);
        serializer.configure(new HashMap<>(properties), false);
        return serializer;
    }

    public Deserializer<GenericRecord> deserializer() {
        @SuppressWarnings("unchecked") // the result is checked where it is used: a cast to GenericRecord
        Deserializer<GenericRecord> deserializer =
                (Deserializer<GenericRecord>) instance(DESERIALIZER, Deserializer.class, AvroDeserializer.class);
        deserializer.configure(new HashMap<>(properties), false);
        return deserializer;
    }

    public Serde<GenericRecord> serde() {
        return Serdes.serdeFrom(serializer(), deserializer());
    }

    private <T> T instance(String property, Class<T> kind, Class<? extends T> otherwise) {
        Object named = properties.getOrDefault(property, otherwise);
        try {
            Class<?> type = named instanceof Class<?> given
                    ? given
                    : Class.forName(named.toString().strip(), true, loader());
            return kind.cast(type.getDeclaredConstructor().newInstance());
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(
                    "%s names %s, which is not on the class path; add its jar, or remove the setting to use %s"
                            .formatted(property, named, otherwise.getName()),
                    e);
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw new IllegalArgumentException(
                    "%s names %s, which cannot be used as a %s: it needs that type and a public constructor without parameters"
                            .formatted(property, named, kind.getName()),
                    e);
        }
    }

    private static ClassLoader loader() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? SerdeFactory.class.getClassLoader() : context;
    }
}
