package io.lendstream.forecaster;

import io.lendstream.service.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** A record that nobody can read, byte for byte as it came, with where it stood and what is wrong with it. */
final class DeadLetter {
    private final ConsumerRecord<byte[], byte[]> record;
    private final String kind;
    private final String reason;

    /** @param kind class of the exception that refused it */
    DeadLetter(ConsumerRecord<byte[], byte[]> record, String kind, String reason) {
        this.record = record;
        this.kind = kind;
        this.reason = reason;
    }

    ConsumerRecord<byte[], byte[]> record() {
        return record;
    }

    String kind() {
        return kind;
    }

    String reason() {
        return reason;
    }

    /** The record as it goes to the dead letters: key, value and headers kept, origin and reason added. */
    ProducerRecord<byte[], byte[]> toTopic(String topic) {
        RecordHeaders headers = new RecordHeaders(record.headers());
        set(headers, DeadLetters.TOPIC, record.topic());
        set(headers, DeadLetters.PARTITION, Integer.toString(record.partition()));
        set(headers, DeadLetters.OFFSET, Long.toString(record.offset()));
        set(headers, DeadLetters.TIMESTAMP, Long.toString(record.timestamp()));
        set(headers, DeadLetters.ERROR_CLASS, kind);
        set(headers, DeadLetters.ERROR_MESSAGE, reason);
        set(headers, DeadLetters.SERVICE, ProgressFunction.SERVICE);
        byte @Nullable [] key = record.key();
        byte @Nullable [] value = record.value();
        return new ProducerRecord<>(topic, null, null, key, value, headers);
    }

    private static void set(Headers headers, String name, String value) {
        headers.remove(name);
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    static List<Header> headers(ConsumerRecord<?, ?> record) {
        return List.of(record.headers().toArray());
    }

    static Header header(String name, byte @Nullable [] value) {
        return new RecordHeader(name, value);
    }
}
