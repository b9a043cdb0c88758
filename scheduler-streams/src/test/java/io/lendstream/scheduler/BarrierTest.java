package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BarrierTest {
    private static final Instant SOON = Scenario.START.plusSeconds(5);

    /** A job that waits for its first plan, a minute after the start. */
    private static Loop withAJob(boolean awaitsForecasts) {
        Loop loop = Loop.accelerated(awaitsForecasts);
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 2).job("bert", 2);
        story.log().stream().skip(1).forEach(event -> loop.tell(event.event()));
        loop.events();
        return loop;
    }

    private static void environment(Loop loop, Instant upTo, Map<String, Long> positions) {
        loop.progress("environment", Scenario.DOMAIN, upTo, positions);
    }

    private static void actuator(Loop loop, Instant upTo, Map<String, Long> positions) {
        loop.progress("actuator", Scenario.DOMAIN, upTo, positions);
    }

    @Test
    void answersOnceEnvironmentAndActuatorAreThere() {
        try (Loop loop = withAJob(false)) {
            environment(loop, SOON, Map.of("lendstream.nodes-0", 1L, "lendstream.training-jobs-0", 1L));
            assertThat(loop.answers()).isEmpty();

            actuator(loop, SOON, Map.of());

            assertThat(loop.answers()).singleElement().satisfies(answer -> {
                assertThat(answer.service()).isEqualTo("scheduler");
                assertThat(answer.domain()).isEqualTo(Scenario.DOMAIN);
                assertThat(answer.eventTime()).isEqualTo(SOON);
                assertThat(answer.nextEventAt()).contains(Scenario.START.plusSeconds(60));
                assertThat(answer.positions()).isEqualTo(Map.of(Progress.DECISIONS, 0L));
            });
        }
    }

    @Test
    void answersEachTimeOnlyOnce() {
        try (Loop loop = withAJob(false)) {
            environment(loop, SOON, Map.of());
            actuator(loop, SOON, Map.of());
            environment(loop, SOON, Map.of());
            actuator(loop, SOON, Map.of());

            assertThat(loop.answers()).hasSize(1);
        }
    }

    @Test
    void doesNotTickBeforeItsTime() {
        try (Loop loop = withAJob(false)) {
            loop.pass(Duration.ofHours(1));
            assertThat(loop.events()).isEmpty();

            environment(loop, Scenario.START.plusSeconds(60), Map.of());
            actuator(loop, Scenario.START.plusSeconds(60), Map.of());

            assertThat(loop.events()).extracting(DomainEvent::event).hasOnlyElementsOfType(Tick.class);
            assertThat(loop.decisions()).hasSize(1);
            assertThat(loop.answers())
                    .singleElement()
                    .extracting(Progress::positions)
                    .isEqualTo(Map.of("decisions", 1L));
        }
    }

    @Test
    void waitsForAnActuatorThatIsBehind() {
        try (Loop loop = withAJob(false)) {
            actuator(loop, Scenario.START, Map.of());
            environment(loop, SOON, Map.of());

            assertThat(loop.answers()).isEmpty();
        }
    }

    @Test
    void waitsForRecordsThatItHasNotRead() {
        try (Loop loop = withAJob(false)) {
            environment(loop, SOON, Map.of("lendstream.training-jobs-0", 2L));
            actuator(loop, SOON, Map.of());
            assertThat(loop.answers()).isEmpty();

            loop.tell(Scenario.of("deepboot").jobRecord("second", 1, true));

            assertThat(loop.answers()).hasSize(1);
        }
    }

    @Test
    void doesNotWaitForTopicsThatItDoesNotRead() {
        try (Loop loop = withAJob(false)) {
            environment(loop, SOON, Map.of("lendstream.decisions-0", 99L, "elsewhere-0", 7L));
            actuator(loop, SOON, Map.of());

            assertThat(loop.answers()).hasSize(1);
        }
    }

    /** A service whose demand has been reported for so many quarters of a minute. */
    private static Loop withDemand(int quarters) {
        Loop loop = Loop.accelerated(true);
        Scenario story = Scenario.of("deepboot").service("chat", 0);
        for (int i = 0; i < quarters; i++) {
            story.after(Duration.ofSeconds(15)).rate("chat", 5);
        }
        story.log().stream()
                .filter(event -> event.sequence() > 1 && !(event.event() instanceof Tick))
                .forEach(event -> loop.tell(event.event()));
        Instant now = story.now();
        environment(loop, now, Map.of());
        actuator(loop, now, Map.of());
        return loop;
    }

    private static Loop forecast(Loop loop, int seconds) {
        Scenario story = Scenario.of("deepboot")
                .service("chat", 0)
                .after(Duration.ofSeconds(seconds))
                .forecast("chat", 9);
        return loop.tell(story.log().get(story.log().size() - 1).event());
    }

    @Test
    void waitsForTheForecastOfAClosedStep() {
        try (Loop loop = withDemand(4)) {
            assertThat(loop.answers()).isEmpty();

            forecast(loop, 60);

            assertThat(loop.answers()).hasSize(1);
        }
    }

    @Test
    void doesNotTakeAnOldForecastForANewOne() {
        try (Loop loop = withDemand(8)) {
            forecast(loop, 60);
            assertThat(loop.answers()).isEmpty();

            forecast(loop, 120);

            assertThat(loop.answers()).hasSize(1);
        }
    }

    @Test
    void waitsForNoForecastBeforeAStepIsComplete() {
        try (Loop loop = withDemand(3)) {
            assertThat(loop.answers()).hasSize(1);
        }
    }

    @Test
    void goesOnInTheEndWhenNoForecastComes() {
        try (Loop loop = withDemand(4)) {
            loop.pass(Loop.PATIENCE.minusSeconds(1));
            assertThat(loop.answers()).isEmpty();

            loop.pass(Duration.ofSeconds(2));

            assertThat(loop.answers()).hasSize(1);
            assertThat(loop.count("lendstream.forecasts.missed")).isEqualTo(1);
        }
    }

    @Test
    void remembersWhatItWaitsForAfterARestart() {
        try (Loop first = withDemand(4);
                Loop second = first.restarted(TimeMode.VIRTUAL)) {
            Scenario story = Scenario.of("deepboot")
                    .service("chat", 0)
                    .after(Duration.ofSeconds(60))
                    .forecast("chat", 9);

            second.passOn(story.log().get(story.log().size() - 1).event(), 1000);

            assertThat(second.answers()).hasSize(1);
            assertThat(second.read(TopicCatalogue.DOMAIN_EVENTS).get(0).epoch()).isEqualTo(2);
        }
    }
}
