package io.lendstream.scheduler;

import java.util.Optional;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * An input record on its way to its domain: its bytes, its origin and, if decoded already, its content. In the
 * internal topic it is stored as its own bytes with {@link RoutingHeaders} as headers, and decoded again.
 */
final class RoutedRecord {
    private final byte[] key;
    private final byte @Nullable [] value;
    private final RoutingHeaders passage;
    private final Optional<Input> input;

    RoutedRecord(byte[] key, byte @Nullable [] value, RoutingHeaders passage, Optional<Input> input) {
        this.key = key;
        this.value = value;
        this.passage = passage;
        this.input = input;
    }

    /** The record's own key; the internal topic uses the domain as its key. */
    byte[] key() {
        return key;
    }

    /** The original value; null if a tombstone removed a node. */
    byte @Nullable [] value() {
        return value;
    }

    RoutingHeaders passage() {
        return passage;
    }

    /** The decoded content; empty if it came through the internal topic or cannot be decoded. */
    Optional<Input> input() {
        return input;
    }

    static Serde<RoutedRecord> serde() {
        return Serdes.serdeFrom(new Writer(), new Reader());
    }

    private static final class Writer implements Serializer<RoutedRecord> {
        @Override
        public byte @Nullable [] serialize(String topic, RoutedRecord arrival) {
            throw new UnsupportedOperationException("a routed record needs a record with headers");
        }

        @Override
        public byte @Nullable [] serialize(String topic, Headers headers, RoutedRecord arrival) {
            arrival.passage.addTo(headers, arrival.key);
            return arrival.value;
        }
    }

    private static final class Reader implements Deserializer<RoutedRecord> {
        @Override
        public RoutedRecord deserialize(String topic, byte @Nullable [] value) {
            throw new UnsupportedOperationException("a routed record needs a record with headers");
        }

        @Override
        public RoutedRecord deserialize(String topic, Headers headers, byte @Nullable [] value) {
            return new RoutedRecord(RoutingHeaders.key(headers), value, RoutingHeaders.from(headers), Optional.empty());
        }
    }
}
