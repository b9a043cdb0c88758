package io.lendstream.schemas.codec;

import io.lendstream.schemas.codec.mapping.Mapping;
import io.lendstream.schemas.codec.mapping.Mappings;
import io.lendstream.schemas.codec.mapping.MismatchException;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.AvroBytes;
import java.util.Objects;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;

/**
 * Turns records of a core type into Avro records of a schema and back, field by field of the same name.
 *
 * <p>A component {@code Instant x} is a field {@code x} of timestamp-millis, {@code Duration x} a long {@code xMillis}; both
 * are cut to milliseconds. A record with the single component {@code value} looks like that component; an Optional is a
 * union with null; a sealed interface of records is a record with an enum {@code kind} and a nullable field for each case,
 * except those without components, of which the kind says all. Maps are written in the order of their keys, so equal
 * records give equal bytes.
 *
 * <p>A schema may have fields that the type lacks if they have a default. Mappers may be used by many threads.
 */
public final class RecordMapper<T> {
    private final Class<T> type;
    private final Schema schema;
    private final Mapping mapping;

    private RecordMapper(Class<T> type, Schema schema, Mapping mapping) {
        this.type = type;
        this.schema = schema;
        this.mapping = mapping;
    }

    /**
     * The mapper between a type and a schema that clamps what it reads: for what this system wrote.
     *
     * @throws MismatchException where the two do not fit, naming the first place where they do not
     */
    public static <T> RecordMapper<T> of(Class<T> type, Schema schema) {
        return of(type, schema, Strictness.CLAMP);
    }

    /**
     * The mapper between a type and a schema.
     *
     * @param strictness what becomes of values out of bounds when a record is read
     * @throws MismatchException where the two do not fit, naming the first place where they do not
     */
    public static <T> RecordMapper<T> of(Class<T> type, Schema schema, Strictness strictness) {
        Mapping mapping = Mappings.of(type, schema, strictness);
        if (schema.getType() != Schema.Type.RECORD) {
            throw new MismatchException("%s is mapped to %s; only a record can be a topic's value"
                    .formatted(type.getName(), schema.getType()));
        }
        return new RecordMapper<>(type, schema, mapping);
    }

    public Schema schema() {
        return schema;
    }

    public GenericRecord encode(T value) {
        return (GenericRecord) Objects.requireNonNull(mapping.encode(value));
    }

    /**
     * The core record that an Avro record stands for.
     *
     * @param record in this mapper's schema, or in another that can be resolved to it
     * @throws io.lendstream.schemas.serde.PoisonRecordException where the record cannot be a {@code T}
     */
    public T decode(GenericRecord record) {
        return type.cast(mapping.decode(AvroBytes.resolve(record, schema)));
    }
}
