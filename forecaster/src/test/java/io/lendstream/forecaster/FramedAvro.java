package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.serde.WireFormat;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;

/** A site's own deserializer, named in configuration: Confluent's frame, one schema a topic, no registry to ask. */
public final class FramedAvro implements Deserializer<GenericRecord> {
    @Override
    public GenericRecord deserialize(String topic, byte[] value) {
        WireFormat.schemaId(value);
        var schema = Codecs.schema(TopicCatalogue.ALL.stream()
                .filter(any -> topic.startsWith(TopicCatalogue.standard().name(any)))
                .findFirst()
                .orElseThrow());
        try {
            return AvroBytes.read(Arrays.copyOfRange(value, WireFormat.HEADER_BYTES, value.length), schema, schema);
        } catch (IOException | RuntimeException e) {
            throw new SerializationException("not a record: " + e.getMessage(), e);
        }
    }

    static byte[] framed(RequestRate rate) {
        return framed(Codecs.encode(TopicCatalogue.REQUEST_RATES, rate));
    }

    static byte[] framed(GenericRecord record) {
        byte[] plain = AvroBytes.write(record);
        return ByteBuffer.allocate(WireFormat.HEADER_BYTES + plain.length)
                .put(WireFormat.MAGIC)
                .putInt(1)
                .put(plain)
                .array();
    }
}
