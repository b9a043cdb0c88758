package io.lendstream.schemas.codec;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.WireSchemas;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;

/**
 * What the records of our topics mean: each topic's core type and Avro record, checked against each other when this class
 * is first used.
 */
public final class Codecs {
    private static final Map<Topic<?>, RecordMapper<?>> MAPPERS = mappers();

    private Codecs() {}

    public static <T> GenericRecord encode(Topic<T> topic, T value) {
        return mapper(topic).encode(value);
    }

    /**
     * The core record that an Avro record stands for.
     *
     * @throws io.lendstream.schemas.serde.PoisonRecordException where the record cannot be what the topic holds
     */
    public static <T> T decode(Topic<T> topic, GenericRecord record) {
        return mapper(topic).decode(record);
    }

    public static Schema schema(Topic<?> topic) {
        return mapper(topic).schema();
    }

    /** The schema that each topic's records are wanted in, by the topic's name in Kafka. */
    public static Map<String, Schema> readerSchemas(TopicCatalogue catalogue) {
        Map<String, Schema> schemas = new LinkedHashMap<>();
        MAPPERS.forEach((topic, mapper) -> schemas.put(catalogue.name(topic), mapper.schema()));
        return schemas;
    }

    @SuppressWarnings("unchecked") // mappers() puts a mapper of T under each Topic<T>
    private static <T> RecordMapper<T> mapper(Topic<T> topic) {
        RecordMapper<?> mapper = MAPPERS.get(topic);
        if (mapper == null) {
            throw new IllegalArgumentException("topic %s is not in the catalogue".formatted(topic));
        }
        return (RecordMapper<T>) mapper;
    }

    private static Map<Topic<?>, RecordMapper<?>> mappers() {
        Map<Topic<?>, RecordMapper<?>> mappers = new LinkedHashMap<>();
        for (Topic<?> topic : TopicCatalogue.ALL) {
            mappers.put(topic, RecordMapper.of(topic.type(), WireSchemas.of(topic.recordName())));
        }
        return mappers;
    }
}
