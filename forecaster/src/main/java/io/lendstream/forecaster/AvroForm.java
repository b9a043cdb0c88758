package io.lendstream.forecaster;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes a core record as its topic's Avro record, between tasks with the same schema version. */
final class AvroForm {
    private AvroForm() {}

    static <T> void write(Topic<T> topic, T value, DataOutputView target) throws IOException {
        ImmutableSerializer.writeBytes(AvroBytes.write(Codecs.encode(topic, value)), target);
    }

    static <T> T read(Topic<T> topic, DataInputView source) throws IOException {
        Schema schema = Codecs.schema(topic);
        return Codecs.decode(topic, AvroBytes.read(ImmutableSerializer.readBytes(source), schema, schema));
    }
}
