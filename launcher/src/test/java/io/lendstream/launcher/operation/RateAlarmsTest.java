package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code lendstream top} says of sources whose windows are too short for a rate. */
class RateAlarmsTest {
    private static final String ALARM =
            "service chat: the rate of source gateway stays as it is, as its windows are shorter than 5 s; send longer windows";

    private final Scenario story = Scenario.of("deepboot").service("chat", 1).settled();
    private final Overview overview = new Overview();
    private long sequence;

    private List<String> alarmsAfter(Duration window, long requests) {
        story.after(window);
        RequestRate plain = story.rateRecord("chat", 0, ++sequence);
        overview.tell(new RequestRate(
                plain.service(),
                plain.domain(),
                plain.source(),
                plain.bootId(),
                plain.sequence(),
                story.now().minus(window),
                story.now(),
                RequestRate.Requests.answered(requests),
                plain.latency(),
                List.of(),
                List.of()));
        return overview.alarms(story.now());
    }

    private double shown() {
        return overview.json(story.now()).at("/services/0/requestsPerSecond").asDouble();
    }

    @Test
    void aSourceWhoseRateCannotChangeIsNamedUntilAWindowIsLongEnough() {
        story.log().forEach(event -> overview.tell(event.event()));

        assertThat(alarmsAfter(Duration.ofSeconds(1), 1)).isEmpty();
        assertThat(alarmsAfter(Duration.ofMillis(4999), 30)).containsExactly(ALARM);
        assertThat(shown()).isEqualTo(1);
        assertThat(alarmsAfter(Duration.ofSeconds(5), 15)).isEmpty();
        assertThat(shown()).isEqualTo(3);
        assertThat(alarmsAfter(Duration.ofSeconds(1), 1)).isEmpty();
    }
}
