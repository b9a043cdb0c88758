package io.lendstream.schemas.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

final class CloudEventHeadersTest {
    private static final CloudEventHeaders DECISION = new CloudEventHeaders(
            "east/3/17", "/lendstream/scheduler", "io.lendstream.Decision", Instant.parse("2026-11-21T06:00:00.250Z"));

    @Test
    void setsTheAttributesOfBinaryMode() {
        Headers headers = DECISION.toHeaders();

        assertThat(text(headers, "ce_specversion")).isEqualTo("1.0");
        assertThat(text(headers, "ce_id")).isEqualTo("east/3/17");
        assertThat(text(headers, "ce_source")).isEqualTo("/lendstream/scheduler");
        assertThat(text(headers, "ce_type")).isEqualTo("io.lendstream.Decision");
        assertThat(text(headers, "ce_time")).isEqualTo("2026-11-21T06:00:00.250Z");
        assertThat(text(headers, "content-type")).isEqualTo("application/avro");
        assertThat(CloudEventHeaders.from(headers)).contains(DECISION);
    }

    @Test
    void takesThePlaceOfEarlierHeaders() {
        Headers headers = new RecordHeaders();
        headers.add("ce_id", "other".getBytes(StandardCharsets.UTF_8));

        DECISION.applyTo(headers);
        DECISION.applyTo(headers);

        assertThat(headers.toArray()).hasSize(6);
    }

    @Test
    void recordsWithoutSoundAttributesHaveNone() {
        Headers headers = DECISION.toHeaders();
        headers.remove("ce_time");
        assertThat(CloudEventHeaders.from(headers)).isEmpty();

        headers.add("ce_time", "yesterday".getBytes(StandardCharsets.UTF_8));
        assertThat(CloudEventHeaders.from(headers)).isEmpty();
        assertThat(CloudEventHeaders.from(new RecordHeaders())).isEmpty();
    }

    @Test
    void nothingMayBeBlank() {
        assertThatThrownBy(() -> new CloudEventHeaders(" ", "/s", "t", Instant.EPOCH))
                .hasMessageContaining("ce_id");
    }

    private static String text(Headers headers, String name) {
        return new String(headers.lastHeader(name).value(), StandardCharsets.UTF_8);
    }
}
