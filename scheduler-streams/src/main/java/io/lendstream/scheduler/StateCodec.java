package io.lendstream.scheduler;

import io.lendstream.schemas.codec.RecordMapper;
import io.lendstream.schemas.codec.SchemaDerivation;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.AvroBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.LongFunction;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;

/**
 * Encodes a core record as an entry of the scheduler's state: the fingerprint of its schema, then its Avro form. The
 * entry can be read with the schema of that fingerprint, even after the record type has changed.
 */
final class StateCodec<T> {
    private final Class<T> type;
    private final RecordMapper<T> mapper;
    private final long fingerprint;

    private StateCodec(Class<T> type, Schema schema) {
        this.type = type;
        this.mapper = RecordMapper.of(type, schema, Strictness.CLAMP);
        this.fingerprint = SchemaNormalization.parsingFingerprint64(schema);
    }

    static <T> StateCodec<T> of(Class<T> type) {
        return new StateCodec<>(type, SchemaDerivation.of(type));
    }

    Schema schema() {
        return mapper.schema();
    }

    long fingerprint() {
        return fingerprint;
    }

    byte[] write(T value) {
        byte[] body = AvroBytes.write(mapper.encode(value));
        return ByteBuffer.allocate(Long.BYTES + body.length)
                .putLong(fingerprint)
                .put(body)
                .array();
    }

    /**
     * Decodes an entry.
     *
     * @param schemas the writer schemas, by fingerprint
     */
    T read(byte[] entry, LongFunction<Schema> schemas) {
        long writtenWith = ByteBuffer.wrap(entry).getLong();
        Schema writer = writtenWith == fingerprint ? mapper.schema() : schemas.apply(writtenWith);
        try {
            byte[] body = Arrays.copyOfRange(entry, Long.BYTES, entry.length);
            return mapper.decode(AvroBytes.read(body, writer, mapper.schema()));
        } catch (IOException | AvroRuntimeException e) {
            throw new IllegalStateException(
                    ("the state of type %s was written by an incompatible version: %s. Start that version again, or"
                                    + " reset the application's internal topics.")
                            .formatted(type.getSimpleName(), e.getMessage()),
                    e);
        }
    }
}
