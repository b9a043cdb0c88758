package io.lendstream.schemas.serde;

import java.nio.ByteBuffer;

/** Confluent's frame around an Avro record: a zero, the writer schema's id in four bytes, then the record itself. */
public final class WireFormat {
    public static final byte MAGIC = 0;
    public static final int HEADER_BYTES = 5;

    private WireFormat() {}

    /** The writer schema's ID, with which a reader requests the schema from the registry. */
    public static int schemaId(byte[] value) {
        if (value.length < HEADER_BYTES) {
            throw new MalformedFrameException("a record must have at least %d bytes before its data, but has %d"
                    .formatted(HEADER_BYTES, value.length));
        }
        if (value[0] != MAGIC) {
            throw new MalformedFrameException(
                    "a record must start with byte 0 and a schema id, but starts with byte %d; was it written without a schema registry?"
                            .formatted(value[0] & 0xff));
        }
        return ByteBuffer.wrap(value, 1, Integer.BYTES).getInt();
    }

    /** A record in Avro's binary form, with its five-byte frame. */
    static byte[] framed(int schemaId, byte[] body) {
        return ByteBuffer.allocate(HEADER_BYTES + body.length)
                .put(MAGIC)
                .putInt(schemaId)
                .put(body)
                .array();
    }

    /** The five-byte frame of a record. */
    static byte[] header(int schemaId) {
        return ByteBuffer.allocate(HEADER_BYTES).put(MAGIC).putInt(schemaId).array();
    }
}
