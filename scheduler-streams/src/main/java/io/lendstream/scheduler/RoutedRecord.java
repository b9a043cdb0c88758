package io.lendstream.scheduler;

import java.util.Optional;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * A record of an input on its way to its domain: as it came, from where, and what it says where somebody has read it already. By the
 * internal topic it goes as its own bytes with its {@link RoutingHeaders} in headers, to be read again.
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

    /** The record's own key; on its way, it goes by its domain's. */
    byte[] key() {
        return key;
    }

    /** As it came; nothing where a tombstone took a node out of the inventory. */
    byte @Nullable [] value() {
        return value;
    }

    RoutingHeaders passage() {
        return passage;
    }

    /** What it says; empty where it came by the internal topic, or cannot be read. */
    Optional<Input> input() {
        return input;
    }

    static Serde<RoutedRecord> serde() {
        return Serdes.serdeFrom(new Writer(), new Reader());
    }

    private static final class Writer implements Serializer<RoutedRecord> {
        @Override
        public byte @Nullable [] serialize(String topic, RoutedRecord arrival) {
            throw new UnsupportedOperationException("an arrival goes in a record with headers");
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
            throw new UnsupportedOperationException("an arrival comes in a record with headers");
        }

        @Override
        public RoutedRecord deserialize(String topic, Headers headers, byte @Nullable [] value) {
            return new RoutedRecord(RoutingHeaders.key(headers), value, RoutingHeaders.from(headers), Optional.empty());
        }
    }
}
