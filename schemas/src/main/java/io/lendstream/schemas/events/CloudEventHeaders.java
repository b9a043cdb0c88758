package io.lendstream.schemas.events;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * A record's CloudEvents attributes as Kafka headers, in the binary mode of CloudEvents 1.0: the value stays
 * unchanged.
 *
 * @param id unique for the source
 * @param source the sender, as a URI reference such as {@code /lendstream/scheduler/east}
 * @param type the event type, such as {@code io.lendstream.Decision}
 * @see <a href="https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md">Kafka
 *     protocol binding</a>
 */
public record CloudEventHeaders(String id, String source, String type, Instant time) {
    public static final String SPEC_VERSION = "1.0";
    public static final String CONTENT_TYPE = "application/avro";

    public CloudEventHeaders {
        requirePresent("ce_id", id);
        requirePresent("ce_source", source);
        requirePresent("ce_type", type);
    }

    private static void requirePresent(String name, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(name + " must not be blank");
        }
    }

    /** Sets these headers, replacing any of the same names. */
    public Headers applyTo(Headers headers) {
        set(headers, "ce_specversion", SPEC_VERSION);
        set(headers, "ce_id", id);
        set(headers, "ce_source", source);
        set(headers, "ce_type", type);
        set(headers, "ce_time", time.toString());
        set(headers, "content-type", CONTENT_TYPE);
        return headers;
    }

    public Headers toHeaders() {
        return applyTo(new RecordHeaders());
    }

    /** The attributes of a record that has them all; our own readers never depend on them. */
    public static Optional<CloudEventHeaders> from(Headers headers) {
        Optional<String> id = text(headers, "ce_id");
        Optional<String> source = text(headers, "ce_source");
        Optional<String> type = text(headers, "ce_type");
        Optional<Instant> time = text(headers, "ce_time").flatMap(CloudEventHeaders::instant);
        if (id.isEmpty() || source.isEmpty() || type.isEmpty() || time.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new CloudEventHeaders(id.get(), source.get(), type.get(), time.get()));
    }

    private static Optional<Instant> instant(String text) {
        try {
            return Optional.of(java.time.OffsetDateTime.parse(text).toInstant());
        } catch (java.time.format.DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static void set(Headers headers, String name, String value) {
        headers.remove(name);
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    private static Optional<String> text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null || header.value().length == 0) {
            return Optional.empty();
        }
        String value = new String(header.value(), StandardCharsets.UTF_8);
        return value.isBlank() ? Optional.empty() : Optional.of(value);
    }
}
