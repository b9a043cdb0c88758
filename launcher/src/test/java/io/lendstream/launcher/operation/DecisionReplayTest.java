package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.fixtures.Stories;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.ClusterState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class DecisionReplayTest {
    private final Scenario story = Stories.lending(40, 30);
    private final NavigableMap<Long, Snapshot> snapshots = snapshots(story);
    private final KeptLog log = new KeptLog(story.log());

    /** A snapshot after each event. */
    private static NavigableMap<Long, Snapshot> snapshots(Scenario story) {
        NavigableMap<Long, Snapshot> snapshots = new TreeMap<>();
        Optional<SchedulerStarted> started = Optional.empty();
        ClusterState state = ClusterState.empty(story.log().get(0).domain());
        for (DomainEvent event : story.log()) {
            Optional<SchedulerStarted> before = started;
            started = event.event().asStarted().or(() -> before);
            state = Scheduler.of(started.orElseThrow()).step(state, event).state();
            snapshots.put(event.sequence(), new Snapshot(started.orElseThrow(), state, "test"));
        }
        return snapshots;
    }

    @Test
    void stopsWhereTheLogCannotBeReplayedAndStillFindsTheInputs() {
        Decision decision = last(story.decisions());
        log.events.remove(0);

        DecisionReplay replay = new DecisionReplay(decision, log);
        replay.run(List::of);

        assertThat(log.read).isEqualTo(1);
        assertThat(replay.explanation().made()).isEmpty();
        assertThat(replay.explanation().missing()).isEmpty();
        assertThat(replay.explanation().inputs()).isNotEmpty();
    }

    @Test
    void keepsTheReplayIfAnOlderStartCannotBeReplayed() {
        Decision late =
                story.decisions().stream().filter(this::misses).findFirst().orElseThrow();
        log.snapshots.put(trigger(late) - 1, snapshots.get(trigger(late) - 1));
        log.snapshots.put(2L, snapshots.get(2L));
        log.events.subList(0, 4).clear();

        DecisionReplay replay = new DecisionReplay(late, log);
        replay.run(List::of);

        assertThat(replay.explanation().made()).isPresent();
        assertThat(replay.missesPlan()).isTrue();
    }

    @Test
    void takesAnOlderStartThatHasThePlan() {
        Decision late =
                story.decisions().stream().filter(this::misses).findFirst().orElseThrow();
        log.snapshots.put(trigger(late) - 1, snapshots.get(trigger(late) - 1));

        DecisionReplay replay = new DecisionReplay(late, log);
        replay.run(List::of);

        assertThat(replay.explanation().made()).isPresent();
        assertThat(replay.missesPlan()).isFalse();
    }

    @Test
    void aReplayOfATimeBeginsAtASnapshotBeforeIt() {
        DomainId domain = story.state().domain();
        snapshots.forEach((sequence, snapshot) -> {
            if (sequence % 10 == 0) {
                log.snapshots.put(sequence, snapshot);
            }
        });
        long last = log.snapshots.lastKey();
        Instant time = snapshots.get(last - 55).state().now();

        Snapshot start = log.snapshotBefore(domain, time).orElseThrow();

        assertThat(start.state().now()).isBeforeOrEqualTo(time);
        assertThat(start.sequence()).isBetween(last - 4 * 55, last - 55);
        assertThat(log.snapshotBefore(domain, Instant.MAX)).contains(log.snapshots.get(last));
        assertThat(log.snapshotBefore(domain, Instant.EPOCH))
                .as("the log has its beginning")
                .isEmpty();

        log.events.remove(0);
        assertThat(log.snapshotBefore(domain, Instant.EPOCH)).contains(log.snapshots.get(10L));
    }

    /** Whether the plan of a decision is older than the event before it. */
    private boolean misses(Decision decision) {
        long trigger = trigger(decision);
        if (trigger < 10) {
            return false;
        }
        Explainer explainer = new Explainer(decision).after(snapshots.get(trigger - 1));
        explainer.take(story.log().get((int) trigger - 1));
        return explainer.missesPlan();
    }

    private static long trigger(Decision decision) {
        return decision.reason().inputs().stream()
                .mapToLong(input -> input)
                .max()
                .orElse(0);
    }

    private static <T> T last(List<T> all) {
        return all.get(all.size() - 1);
    }

    /** A log in memory that counts the events that are replayed. */
    private static final class KeptLog implements DomainLog {
        private final List<DomainEvent> events;
        private final NavigableMap<Long, Snapshot> snapshots = new TreeMap<>();
        private int read;

        KeptLog(List<DomainEvent> events) {
            this.events = new ArrayList<>(events);
        }

        @Override
        public Optional<Snapshot> snapshot(DomainId domain, long upTo) {
            return snapshots.headMap(upTo, true).descendingMap().values().stream()
                    .findFirst();
        }

        @Override
        public void replay(DomainId domain, long after, Consumer<DomainEvent> to, BooleanSupplier enough) {
            for (DomainEvent event : events) {
                if (event.sequence() > after && !enough.getAsBoolean()) {
                    to.accept(event);
                    read++;
                }
            }
        }

        @Override
        public Optional<DomainEvent> event(DomainId domain, long sequence) {
            return events.stream().filter(event -> event.sequence() == sequence).findFirst();
        }

        @Override
        public Optional<DomainEvent> firstEvent(DomainId domain) {
            return events.stream().findFirst();
        }
    }
}
