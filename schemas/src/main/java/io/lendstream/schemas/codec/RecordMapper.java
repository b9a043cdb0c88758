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
 * Maps records of a core type to Avro records of a schema and back, by field name.
 *
 * <p>A component {@code Instant x} is a field {@code x} of timestamp-millis, and {@code Duration x} is a long {@code
 * xMillis}; both are cut to milliseconds. A record with the single component {@code value} is mapped like that
 * component. An Optional is a union with null. A sealed interface of records is a record with an enum {@code kind}
 * and a nullable field for each case that has components. Maps are written in key order, so equal records give equal
 * bytes.
 *
 * <p>A schema may have further fields with defaults. Mappers are safe for many threads.
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
     * Creates a mapper that clamps out-of-bounds values: for records that this system wrote.
     *
     * @throws MismatchException if the type and the schema do not fit; names the first place
     */
    public static <T> RecordMapper<T> of(Class<T> type, Schema schema) {
        return of(type, schema, Strictness.CLAMP);
    }

    /**
     * Creates the mapper between a type and a schema.
     *
     * @param strictness how out-of-bounds values are handled when a record is read
     * @throws MismatchException if the type and the schema do not fit; names the first place
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
     * Decodes an Avro record.
     *
     * @param record in this mapper's schema, or in a compatible one
     * @throws io.lendstream.schemas.serde.PoisonRecordException if the record cannot be a {@code T}
     */
    public T decode(GenericRecord record) {
        return type.cast(mapping.decode(AvroBytes.resolve(record, schema)));
    }
}
