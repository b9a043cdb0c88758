package io.lendstream.service.fake;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.WireFormat;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/** The wire format without a registry: a schema's id is its topic's place in the catalogue. */
public final class FakeSerdes {
    private FakeSerdes() {}

    public static Serializer<GenericRecord> serializer() {
        return (topic, record) -> {
            byte[] body = AvroBytes.write(record);
            return ByteBuffer.allocate(WireFormat.HEADER_BYTES + body.length)
                    .put(WireFormat.MAGIC)
                    .putInt(id(record.getSchema()))
                    .put(body)
                    .array();
        };
    }

    public static Deserializer<GenericRecord> deserializer() {
        return (topic, value) -> read(value);
    }

    static <T> T read(Topic<T> topic, byte[] value) {
        return Codecs.decode(topic, read(value));
    }

    private static GenericRecord read(byte[] value) {
        int id = WireFormat.schemaId(value);
        if (id < 0 || id >= TopicCatalogue.ALL.size()) {
            throw new Unreadable("schema id %d is not known".formatted(id));
        }
        Schema schema = Codecs.schema(TopicCatalogue.ALL.get(id));
        try {
            return AvroBytes.read(Arrays.copyOfRange(value, WireFormat.HEADER_BYTES, value.length), schema, schema);
        } catch (IOException | RuntimeException e) {
            throw new Unreadable("%d bytes do not read as %s".formatted(value.length, schema.getName()));
        }
    }

    private static int id(Schema schema) {
        for (int id = 0; id < TopicCatalogue.ALL.size(); id++) {
            if (Codecs.schema(TopicCatalogue.ALL.get(id)).equals(schema)) {
                return id;
            }
        }
        throw new UncheckedIOException(new IOException("no topic has " + schema.getName()));
    }

    private static final class Unreadable extends PoisonRecordException {
        private static final long serialVersionUID = 1L;

        Unreadable(String message) {
            super(message, null);
        }
    }
}
