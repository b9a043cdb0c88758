package io.lendstream.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.DomainId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class EnvironmentTest {
    private static final DomainId DOMAIN = new DomainId("test");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final FakePlay play = new FakePlay();
    private final FakeWire wire = new FakeWire();

    private Environment environment(String... others) {
        return new Environment(
                play,
                wire,
                DOMAIN,
                List.of(others),
                new Environment.Timing(
                        START, Duration.ofSeconds(5), Duration.ofMillis(200), Environment.Pace.UNBOUNDED));
    }

    @Test
    void advancesByAQuantumWhileEventsHappenAndElseJumpsToTheNextEvent() {
        play.events(1, 2, 3, 60, 61, 200);
        wire.answering("scheduler");

        environment("scheduler").run(() -> false);

        assertThat(wire.announced()).containsExactly(0L, 5L, 60L, 65L, 200L);
    }

    @Test
    void comesNoLaterThanWhatAServiceHasToDoByItself() {
        play.events(100);
        wire.answering("scheduler").nextOf("scheduler", 30);

        environment("scheduler").run(() -> false);

        assertThat(wire.announced()).containsExactly(0L, 30L, 100L);
    }

    @Test
    void doesNotJumpAfterDecisionsWhoseEffectsAreNotKnownYet() {
        play.events(100, 200);
        wire.answering("scheduler").decidingAt(0).decidingAt(100);

        environment("scheduler").run(() -> false);

        assertThat(wire.announced()).containsExactly(0L, 5L, 100L, 105L, 200L);
    }

    @Test
    void writesEverythingOfAQuantumBeforeItAnnouncesItsEnd() {
        play.events(1, 7);
        wire.answering("scheduler");

        environment("scheduler").run(() -> false);

        assertThat(wire.written).containsExactly("progress 0", "event 1", "progress 5", "event 7", "progress 10");
    }

    @Test
    void waitsUntilTheDecisionsOfAnAnswerHaveBeenRead() {
        play.events(1);
        wire.answering("scheduler").readingLate();

        assertThatThrownBy(() -> environment("scheduler").run(() -> false)).isInstanceOf(StalledException.class);
    }

    @Test
    void namesTheLateServicesInItsError() {
        play.events(1);
        wire.answering("scheduler");

        assertThatThrownBy(() -> environment("scheduler", "actuator").run(() -> false))
                .isInstanceOf(StalledException.class)
                .hasMessageStartingWith(
                        "Run stopped at virtual time 2026-01-01 00:00:00 UTC: no answer within 0 s (load.stall-timeout)"
                                + " from actuator (no answer yet). Check that");
    }

    private static final class FakePlay implements Play {
        private final TreeSet<Instant> events = new TreeSet<>();

        void events(long... seconds) {
            for (long second : seconds) {
                events.add(START.plusSeconds(second));
            }
        }

        @Override
        public List<Event> advance(Instant to) {
            List<Event> happened = new ArrayList<>();
            while (!events.isEmpty() && !events.first().isAfter(to)) {
                happened.add(new Tick(DOMAIN, events.pollFirst()));
            }
            return happened;
        }

        @Override
        public Optional<Instant> nextEventAt() {
            return events.isEmpty() ? Optional.empty() : Optional.of(events.first());
        }

        @Override
        public void take(Object record) {}

        @Override
        public boolean finished() {
            return events.isEmpty();
        }

        @Override
        public double share() {
            return 0;
        }

        @Override
        public String progress() {
            return "";
        }
    }

    private static final class FakeWire implements Wire {
        private final List<String> written = new ArrayList<>();
        private final List<Long> times = new ArrayList<>();
        private final List<String> answering = new ArrayList<>();
        private final Deque<Object> inbox = new ArrayDeque<>();
        private final Map<String, Instant> next = new java.util.HashMap<>();
        private final List<Long> deciding = new ArrayList<>();
        private long decided;
        private boolean reads = true;

        FakeWire answering(String service) {
            answering.add(service);
            return this;
        }

        FakeWire nextOf(String service, long seconds) {
            next.put(service, START.plusSeconds(seconds));
            return this;
        }

        FakeWire decidingAt(long seconds) {
            deciding.add(seconds);
            return this;
        }

        void readingLate() {
            reads = false;
        }

        List<Long> announced() {
            return times;
        }

        @Override
        public void publish(List<Event> events) {
            events.forEach(event -> written.add("event " + seconds(event.at())));
        }

        @Override
        public Map<String, Long> flush() {
            return Map.of();
        }

        @Override
        public void say(Progress progress) {
            written.add("progress " + seconds(progress.eventTime()));
            times.add(seconds(progress.eventTime()));
            decided += deciding.contains(seconds(progress.eventTime())) ? 1 : 0;
            for (String service : answering) {
                Optional<Instant> own =
                        Optional.ofNullable(next.get(service)).filter(at -> at.isAfter(progress.eventTime()));
                inbox.add(
                        new Progress(service, DOMAIN, progress.eventTime(), Map.of(Progress.DECISIONS, decided), own));
            }
        }

        @Override
        public List<Object> poll(Duration patience) {
            List<Object> all = List.copyOf(inbox);
            inbox.clear();
            return all;
        }

        @Override
        public boolean hasRead(Map<String, Long> positions) {
            return reads;
        }

        private static long seconds(Instant at) {
            return Duration.between(START, at).toSeconds();
        }
    }
}
