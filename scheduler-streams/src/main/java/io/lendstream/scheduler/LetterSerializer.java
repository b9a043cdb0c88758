package io.lendstream.scheduler;

import io.lendstream.service.kafka.LetterBounds;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts dead letters to the size that the producer can send. A transactional producer aborts its transaction at a
 * larger record, and the scheduler would fail at the same record after every restart.
 */
final class LetterSerializer implements Serializer<byte[]> {
    private final LetterBounds bounds;
    private final RefusedLetters refused;
    private final boolean isKey;

    private LetterSerializer(LetterBounds bounds, RefusedLetters refused, boolean isKey) {
        this.bounds = bounds;
        this.refused = refused;
        this.isKey = isKey;
    }

    /** Serializes keys. It also cuts the headers, which Streams passes to it before the value is serialized. */
    static Serializer<byte[]> ofKeys(LetterBounds bounds) {
        return new LetterSerializer(bounds, new RefusedLetters(), true);
    }

    /** Serializes values; the value of a letter that a broker has refused is left out. */
    static Serializer<byte[]> ofValues(LetterBounds bounds, RefusedLetters refused) {
        return new LetterSerializer(bounds, refused, false);
    }

    @Override
    public byte @Nullable [] serialize(String topic, byte @Nullable [] data) {
        return serialize(topic, new RecordHeaders(), data);
    }

    @Override
    public byte @Nullable [] serialize(String topic, Headers headers, byte @Nullable [] data) {
        if (isKey) {
            return bounds.key(data, headers);
        }
        return data != null && refused.contains(headers)
                ? LetterBounds.withoutValue(data, headers)
                : bounds.value(data, headers);
    }
}
