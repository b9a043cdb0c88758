package io.lendstream.scheduler;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Serializer;

/** Serializes core records for their topics. */
final class OutputWriter {
    /** Keys are names; headers are those of CloudEvents. */
    private static final int ROOM_FOR_KEY_AND_HEADERS = 4 << 10;

    private final TopicCatalogue topics;
    private final Serializer<GenericRecord> serializer;
    private final Patience patience;
    private final LetterBounds sendable;

    OutputWriter(TopicCatalogue topics, Serializer<GenericRecord> serializer, Patience patience) {
        this(topics, serializer, patience, LetterBounds.DEFAULT);
    }

    /** @param sendable largest record that the producer can send, in bytes */
    OutputWriter(
            TopicCatalogue topics, Serializer<GenericRecord> serializer, Patience patience, LetterBounds sendable) {
        this.topics = topics;
        this.serializer = serializer;
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

    /** The largest value that the producer can send, in bytes. */
    int mostBytes() {
        return sendable.requestBytes() - ROOM_FOR_KEY_AND_HEADERS;
    }
}
