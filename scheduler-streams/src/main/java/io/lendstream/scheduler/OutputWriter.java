package io.lendstream.scheduler;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Serializer;

/** Writes core records as the bytes of their topics. */
final class OutputWriter {
    private final TopicCatalogue topics;
    private final Serializer<GenericRecord> serializer;
    private final Patience patience;

    OutputWriter(TopicCatalogue topics, Serializer<GenericRecord> serializer, Patience patience) {
        this.topics = topics;
        this.serializer = serializer;
        this.patience = patience;
    }

    <T> byte[] write(Topic<T> topic, T value) {
        GenericRecord record = Codecs.encode(topic, value);
        return patience.insist(() -> serializer.serialize(topics.name(topic), record));
    }
}
