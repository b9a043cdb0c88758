package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.Origin;
import io.lendstream.core.event.ServiceName;
import io.lendstream.service.kafka.DeadLetters;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.streams.processor.api.Record;

/** A record that can never become an event, with the headers that all services' dead letters have. */
final class DeadLetter {
    private DeadLetter() {}

    static Record<byte[], byte[]> of(Origin origin, Record<byte[], byte[]> record, Poison poison) {
        return record.withHeaders(headers(origin, record, poison.origin()));
    }

    private static Headers headers(Origin origin, Record<byte[], byte[]> letter, Throwable why) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                origin.topic(),
                origin.partition(),
                origin.offset(),
                letter.timestamp(),
                TimestampType.CREATE_TIME,
                0,
                0,
                new byte[0],
                new byte[0],
                letter.headers(),
                Optional.empty());
        return DeadLetters.letter("", record, why, ServiceName.SCHEDULER.toString())
                .headers();
    }

    /** The topic in which the refused record was found. */
    static String topic(Headers headers) {
        return new String(headers.lastHeader(DeadLetters.TOPIC).value(), UTF_8);
    }
}
