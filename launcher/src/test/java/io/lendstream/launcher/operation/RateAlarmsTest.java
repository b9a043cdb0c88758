package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What {@code lendstream top} says of sources whose windows are too short for a rate. */
class RateAlarmsTest {
    private static final String ALARM =
            "service chat: the rate of source gateway stays as it is, as its windows are shorter than 5 s; send longer windows";

    private Scenario story = Scenario.of("deepboot").service("chat", 1).settled();
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

    @Test
    void whereShortWindowsAreSummedUpTheirRateIsShownAndNoneIsStuck() {
        story = new Scenario(new Scheduler(
                        Policies.parse("deepboot"), SchedulerSettings.of(Map.of("sum-short-windows", "true"))))
                .service("chat", 1)
                .settled();
        story.log().forEach(event -> overview.tell(event.event()));

        assertThat(alarmsAfter(Duration.ofSeconds(1), 1)).isEmpty();
        assertThat(alarmsAfter(Duration.ofSeconds(3), 2)).isEmpty();
        assertThat(shown()).isEqualTo(1);
        assertThat(alarmsAfter(Duration.ofSeconds(1), 7)).isEmpty();
        assertThat(shown()).isEqualTo(2);
    }

    @Test
    void itIsKnownOnlyByTheStartOfTheSchedulerWhichIsReadAfterTheRates() {
        List<Event> log = story.log().stream().map(DomainEvent::event).toList();
        log.stream().filter(event -> event.asStarted().isEmpty()).forEach(overview::tell);

        alarmsAfter(Duration.ofSeconds(1), 1);
        assertThat(alarmsAfter(Duration.ofSeconds(4), 19)).as("as usual").isEmpty();
        assertThat(shown()).isEqualTo(4);

        log.stream().filter(event -> event.asStarted().isPresent()).forEach(overview::tell);

        assertThat(overview.alarms(story.now())).containsExactly(ALARM);
        assertThat(shown()).isEqualTo(1);
    }
}
