package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.operation.SchedulerSearch.Batch;
import io.lendstream.launcher.operation.SchedulerSearch.LogPartition;
import io.lendstream.launcher.operation.SchedulerSearch.Placed;
import io.lendstream.service.kafka.Received;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CommandSearchTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final DomainId EAST = new DomainId("east");

    private final CommandSearch search = new CommandSearch();
    private final EventLog log = new EventLog();

    /** The log of a domain in memory, that counts how often it is read. */
    private static final class EventLog implements LogPartition {
        private final List<DomainEvent> events = new ArrayList<>();
        private final List<Instant> times = new ArrayList<>();
        private long beginning;
        private int reads;

        /** Retention deletes the first records. */
        void forget(long before) {
            beginning = before;
        }

        void append(Instant written, Optional<Origin> origin, Event event) {
            events.add(new DomainEvent(EAST, 1, events.size() + 1L, written, origin, event));
            times.add(written);
        }

        void ticks(int count, Instant from) {
            for (int i = 0; i < count; i++) {
                append(from.plusMillis(i), Optional.empty(), new Tick(EAST, from));
            }
        }

        @Override
        public long beginning() {
            return beginning;
        }

        @Override
        public long end() {
            return events.size();
        }

        @Override
        public long since(Instant written) {
            return Math.max(
                    beginning,
                    times.stream().takeWhile(time -> time.isBefore(written)).count());
        }

        @Override
        public Batch read(long offset) {
            reads++;
            List<Placed> batch = new ArrayList<>();
            for (int at = (int) offset; at < Math.min(offset + 100, events.size()); at++) {
                batch.add(new Placed(at, events.get(at)));
            }
            return new Batch(batch, offset + batch.size());
        }
    }

    private static Origin origin(String topic, long offset) {
        return new Origin(topic, 0, offset);
    }

    private static ControlCommand command(Kind kind) {
        return new ControlCommand(EAST, "id", NOON, "alice", kind, Optional.empty(), List.of(), "");
    }

    /** A command is written to a topic. */
    private void ordered(Kind kind, Origin origin, Instant written) {
        search.take(new Received<>("east", Optional.of(command(kind)), origin, written));
    }

    /** The scheduler accepts a command. */
    private void accepted(Kind kind, Origin origin, Instant written) {
        log.append(written, Optional.of(origin), command(kind));
    }

    private List<Kind> found() {
        return search.accepted(domain -> log).stream()
                .map(event -> event.event().asCommand().orElseThrow().kind())
                .toList();
    }

    @Test
    void aCommandThatTheSchedulerRefusedIsNotFound() {
        ordered(Kind.FREEZE, origin("control.west", 0), NOON);
        log.ticks(300, NOON);

        assertThat(found()).isEmpty();
    }

    @Test
    void anAcceptedCommandIsFoundWithoutReadingTheLogBeforeIt() {
        log.ticks(50_000, NOON.minus(Duration.ofHours(1)));
        ordered(Kind.FREEZE, origin("control", 0), NOON);
        log.ticks(150, NOON.plusSeconds(1));
        accepted(Kind.FREEZE, origin("control", 0), NOON.plusSeconds(2));
        log.ticks(50_000, NOON.plusSeconds(3));

        assertThat(found()).containsExactly(Kind.FREEZE);
        assertThat(log.reads).isEqualTo(2);
        assertThat(found()).containsExactly(Kind.FREEZE);
        assertThat(log.reads).isEqualTo(2);
    }

    @Test
    void aCommandMayBeAcceptedLater() {
        ordered(Kind.FREEZE, origin("control", 0), NOON);
        log.ticks(20, NOON);

        assertThat(found()).isEmpty();
        assertThat(search.isOpen(NOON.plusSeconds(59))).isTrue();
        assertThat(search.isOpen(NOON.plusSeconds(60))).isFalse();

        accepted(Kind.FREEZE, origin("control", 0), NOON.plusSeconds(30));

        assertThat(found()).containsExactly(Kind.FREEZE);
        assertThat(search.isOpen(NOON.plusSeconds(59))).isFalse();
    }

    @Test
    void aLaterRecordOfThePartitionInTheLogShowsThatACommandWasRefused() {
        ordered(Kind.RECLAIM_ALL, origin("control", 3), NOON);
        ordered(Kind.FREEZE, origin("control", 4), NOON.plusSeconds(1));
        accepted(Kind.FREEZE, origin("control", 4), NOON.plusSeconds(1));
        log.ticks(50_000, NOON.plusSeconds(2));

        assertThat(found()).containsExactly(Kind.FREEZE);
        assertThat(search.isOpen(NOON.plusSeconds(2))).isFalse();
        assertThat(log.reads).isEqualTo(2);
    }

    @Test
    void theSearchForARefusedCommandEnds() {
        ordered(Kind.FREEZE, origin("control.west", 0), NOON);
        log.ticks(50_000, NOON);

        assertThat(found()).isEmpty();
        int reads = log.reads;
        assertThat(reads).isLessThan(200);
        log.ticks(1_000, NOON.plusSeconds(60));
        assertThat(found()).isEmpty();
        assertThat(log.reads).isEqualTo(reads);
    }

    @Test
    void commandsLongBeforeTheThawThatEndsThemAreNotSought() {
        for (int i = 0; i < 50; i++) {
            ordered(Kind.FREEZE, origin("control", i), NOON.plusSeconds(i));
            accepted(Kind.FREEZE, origin("control", i), NOON.plusSeconds(i));
        }
        Instant thawed = NOON.plus(Duration.ofHours(1));
        ordered(Kind.THAW, origin("control", 50), thawed);
        accepted(Kind.THAW, origin("control", 50), thawed);
        ordered(Kind.ADVISORY_ON, origin("control", 51), thawed.plusSeconds(1));
        accepted(Kind.ADVISORY_ON, origin("control", 51), thawed.plusSeconds(1));

        assertThat(found()).containsExactly(Kind.ADVISORY_ON, Kind.THAW);
        assertThat(log.reads).isEqualTo(2);
    }

    @Test
    void commandsOlderThanTheLogAreNotSought() {
        Instant longAgo = NOON.minus(Duration.ofDays(32));
        ordered(Kind.ADVISORY_ON, origin("control", 0), longAgo);
        accepted(Kind.ADVISORY_ON, origin("control", 0), longAgo);
        log.ticks(50_000, NOON.minus(Duration.ofDays(30)));
        log.forget(10_000);

        assertThat(found()).isEmpty();
        assertThat(log.reads).isZero();
    }

    @Test
    void aCommandMayBeMuchOlderThanTheFirstEventOfANewLog() {
        ordered(Kind.ADVISORY_ON, origin("control", 0), NOON.minus(Duration.ofDays(3)));
        accepted(Kind.ADVISORY_ON, origin("control", 0), NOON);

        assertThat(found()).containsExactly(Kind.ADVISORY_ON);
    }

    @Test
    void aCommandThatWaitedForAStoppedSchedulerIsFound() {
        log.ticks(200, NOON.minus(Duration.ofDays(5)));
        log.forget(100);
        ordered(Kind.FREEZE, origin("control", 0), NOON.minus(Duration.ofDays(3)));
        accepted(Kind.FREEZE, origin("control", 0), NOON);

        assertThat(found()).containsExactly(Kind.FREEZE);
    }

    @Test
    void theLogIsNotLookedUpAgainOnceCommandsAreFound() {
        ordered(Kind.FREEZE, origin("control", 0), NOON);
        accepted(Kind.FREEZE, origin("control", 0), NOON);

        assertThat(found()).containsExactly(Kind.FREEZE);
        assertThat(search.accepted(domain -> {
                    throw new AssertionError("no search is open in " + domain);
                }))
                .hasSize(1);
    }

    @Test
    void approvalsAndTombstonesAreNotSought() {
        ordered(Kind.APPROVE, origin("control", 0), NOON);
        search.take(new Received<>("east", Optional.empty(), origin("control", 1), NOON));

        assertThat(search.isOpen(NOON)).isFalse();
        assertThat(found()).isEmpty();
    }
}
