package io.lendstream.scheduler;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/** Serializes core records for their topics, and reads them again. */
final class OutputWriter {
    /** Keys are names; headers are those of CloudEvents. */
    private static final int ROOM_FOR_KEY_AND_HEADERS = 4 << 10;

    private final TopicCatalogue topics;
    private final Serializer<GenericRecord> serializer;
    private final Deserializer<GenericRecord> deserializer;
    private final Patience patience;
    private final LetterBounds sendable;

    OutputWriter(TopicCatalogue topics, SerdeFactory serdes, Patience patience) {
        this(topics, serdes, patience, LetterBounds.DEFAULT);
    }

    /** @param sendable largest record that the producer can send, in bytes */
    OutputWriter(TopicCatalogue topics, SerdeFactory serdes, Patience patience, LetterBounds sendable) {
        this.topics = topics;
        this.serializer = serdes.serializer();
        this.deserializer = serdes.reading(Codecs.readerSchemas(topics)).deserializer();
        this.patience = patience;
        this.sendable = sendable;
    }

    /**
     * Serializes a value.
     *
     * @throws OversizeOutputException if the producer could not send it: a transactional producer aborts at such a
     *     record
     */
    <T> byte[] write(Topic<T> topic, T value) {
        GenericRecord record = Codecs.encode(topic, value);
        byte[] bytes = patience.insist(() -> serializer.serialize(topics.name(topic), record));
        if (bytes.length > mostBytes()) {
            throw new OversizeOutputException("a record of " + topic, bytes.length, mostBytes());
        }
        return bytes;
    }

    /** Reads a value that {@link #write} has made. Its schema is known, so the registry is not asked. */
    <T> T read(Topic<T> topic, byte[] value) {
        return Codecs.decode(topic, deserializer.deserialize(topics.name(topic), value));
    }

    /** The largest value that the producer can send, in bytes. */
    int mostBytes() {
        return sendable.requestBytes() - ROOM_FOR_KEY_AND_HEADERS;
    }
}
