package io.lendstream.schemas.serde;

import java.util.Map;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;

/** {@link AvroSerializer} and {@link AvroDeserializer} together, for Kafka Streams' {@code default.value.serde}. */
public final class AvroSerde implements Serde<GenericRecord> {
    private final AvroSerializer serializer = new AvroSerializer();
    private final AvroDeserializer deserializer = new AvroDeserializer();

    /** Used by Kafka Streams, which calls {@link #configure} next. */
    public AvroSerde() {}

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        serializer.configure(configs, isKey);
        deserializer.configure(configs, isKey);
    }

    @Override
    public Serializer<GenericRecord> serializer() {
        return serializer;
    }

    @Override
    public Deserializer<GenericRecord> deserializer() {
        return deserializer;
    }
}
