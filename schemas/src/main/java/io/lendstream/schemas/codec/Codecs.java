package io.lendstream.schemas.codec;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.codec.mapping.OutOfBoundsException;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.WireSchemas;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;

/**
 * Maps the records of our topics: each topic's core type to its Avro record. The pairs are checked against each other
 * when this class is first used.
 */
public final class Codecs {
    private static final Map<Topic<?>, RecordMapper<?>> MAPPERS = mappers(Strictness.CLAMP);
    private static final Map<Topic<?>, RecordMapper<?>> STRICT = mappers(Strictness.REFUSE);
    private static final Map<Topic<?>, RecordMapper<Address>> ADDRESSES = addresses();

    private Codecs() {}

    public static <T> GenericRecord encode(Topic<T> topic, T value) {
        return mapper(MAPPERS, topic).encode(value);
    }

    /**
     * Decodes an Avro record that this system wrote; out-of-bounds values are clamped.
     *
     * @throws io.lendstream.schemas.serde.PoisonRecordException if the record does not fit the topic
     */
    public static <T> T decode(Topic<T> topic, GenericRecord record) {
        return decode(topic, record, Strictness.CLAMP);
    }

    /**
     * Decodes an Avro record.
     *
     * @throws io.lendstream.schemas.serde.PoisonRecordException if the record does not fit the topic, or is refused
     */
    public static <T> T decode(Topic<T> topic, GenericRecord record, Strictness strictness) {
        if (strictness == Strictness.CLAMP) {
            return mapper(MAPPERS, topic).decode(record);
        }
        T value = mapper(STRICT, topic).decode(record);
        if (value instanceof Event event) {
            try {
                Limits.check(event);
            } catch (IllegalArgumentException e) {
                throw new OutOfBoundsException(String.valueOf(e.getMessage()), e);
            }
        }
        return value;
    }

    public static Schema schema(Topic<?> topic) {
        return mapper(MAPPERS, topic).schema();
    }

    /** The reader schema of each topic's records, by the topic's Kafka name. */
    public static Map<String, Schema> readerSchemas(TopicCatalogue catalogue) {
        Map<String, Schema> schemas = new LinkedHashMap<>();
        MAPPERS.forEach((topic, mapper) -> catalogue.names(topic).forEach(name -> schemas.put(name, mapper.schema())));
        return schemas;
    }

    /** Reader schemas that contain only the domain of a record. */
    public static Map<String, Schema> domainSchemas(TopicCatalogue catalogue) {
        Map<String, Schema> schemas = new LinkedHashMap<>();
        ADDRESSES.forEach(
                (topic, mapper) -> catalogue.names(topic).forEach(name -> schemas.put(name, mapper.schema())));
        return schemas;
    }

    /**
     * Reads the domain of a record.
     *
     * @param record a record with a domain field, such as those read with {@link #domainSchemas}
     * @throws io.lendstream.schemas.serde.PoisonRecordException if it names no domain
     */
    public static DomainId domain(Topic<?> topic, GenericRecord record) {
        RecordMapper<Address> mapper = ADDRESSES.get(topic);
        if (mapper == null) {
            throw new IllegalArgumentException("records of topic %s belong to no domain".formatted(topic));
        }
        return mapper.decode(record).domain();
    }

    private record Address(DomainId domain) {}

    private static Map<Topic<?>, RecordMapper<Address>> addresses() {
        Map<Topic<?>, RecordMapper<Address>> mappers = new LinkedHashMap<>();
        MAPPERS.forEach((topic, mapper) -> {
            Schema whole = mapper.schema();
            Schema.Field domain = whole.getField("domain");
            if (domain != null) {
                Schema part = Schema.createRecord(
                        whole.getName(),
                        whole.getDoc(),
                        whole.getNamespace(),
                        false,
                        List.of(new Schema.Field(domain, domain.schema())));
                mappers.put(topic, RecordMapper.of(Address.class, part, Strictness.intake(topic)));
            }
        });
        return mappers;
    }

    @SuppressWarnings("unchecked") // mappers(Strictness) puts a mapper of T under each Topic<T>
    private static <T> RecordMapper<T> mapper(Map<Topic<?>, RecordMapper<?>> mappers, Topic<T> topic) {
        RecordMapper<?> mapper = mappers.get(topic);
        if (mapper == null) {
            throw new IllegalArgumentException("topic %s is not in the catalogue".formatted(topic));
        }
        return (RecordMapper<T>) mapper;
    }

    private static Map<Topic<?>, RecordMapper<?>> mappers(Strictness strictness) {
        Map<Topic<?>, RecordMapper<?>> mappers = new LinkedHashMap<>();
        for (Topic<?> topic : TopicCatalogue.ALL) {
            mappers.put(topic, RecordMapper.of(topic.type(), WireSchemas.of(topic.recordName()), strictness));
        }
        return mappers;
    }
}
