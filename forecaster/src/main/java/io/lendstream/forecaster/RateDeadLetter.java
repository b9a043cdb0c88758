package io.lendstream.forecaster;

import io.lendstream.core.event.ServiceName;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.LetterBounds;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** An undecodable record, cut to a size that can be sent, with its origin and the reason. */
final class RateDeadLetter {
    private final ConsumerRecord<byte[], byte[]> record;
    private final String kind;
    private final String reason;

    /** @param kind class of the exception that refused the record */
    RateDeadLetter(ConsumerRecord<byte[], byte[]> record, String kind, String reason) {
        this.record = record;
        this.kind = kind;
        this.reason = reason;
    }

    /** A letter that the producer can send: too large records are cut before they are passed between tasks. */
    static RateDeadLetter within(
            LetterBounds bounds, ConsumerRecord<byte[], byte[]> record, String kind, String reason) {
        RecordHeaders headers = new RecordHeaders(record.headers());
        byte @Nullable [] key = bounds.key(record.key(), headers);
        byte @Nullable [] value = bounds.value(record.value(), headers);
        ConsumerRecord<byte[], byte[]> cut = new ConsumerRecord<>(
                record.topic(),
                record.partition(),
                record.offset(),
                record.timestamp(),
                TimestampType.CREATE_TIME,
                ConsumerRecord.NULL_SIZE,
                ConsumerRecord.NULL_SIZE,
                key,
                value,
                headers,
                Optional.empty());
        return new RateDeadLetter(cut, kind, LetterBounds.shortened(reason));
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

    /** The record as a dead letter: key, value and headers kept, origin and reason added. */
    ProducerRecord<byte[], byte[]> toTopic(String topic) {
        RecordHeaders headers = new RecordHeaders(record.headers());
        set(headers, DeadLetters.TOPIC, record.topic());
        set(headers, DeadLetters.PARTITION, Integer.toString(record.partition()));
        set(headers, DeadLetters.OFFSET, Long.toString(record.offset()));
        set(headers, DeadLetters.TIMESTAMP, Long.toString(record.timestamp()));
        set(headers, DeadLetters.ERROR_CLASS, kind);
        set(headers, DeadLetters.ERROR_MESSAGE, reason);
        set(headers, DeadLetters.SERVICE, ServiceName.FORECASTER.toString());
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
