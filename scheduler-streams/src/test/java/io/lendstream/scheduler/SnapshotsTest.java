package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.SnapshotPart;
import io.lendstream.schemas.snapshot.SnapshotShelf;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When the topology writes snapshots, and what is in them. */
class SnapshotsTest {
    private static final int EVENTS = 10;
    private static final SnapshotPace BY_EVENTS = new SnapshotPace(EVENTS, Duration.ofDays(1000));
    private static final SnapshotPace BY_TIME = new SnapshotPace(1_000_000, Duration.ofMinutes(1));

    private final List<String> notes = new ArrayList<>();

    private static Scenario morning() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
        story.job("bert", 4).settled();
        for (int i = 0; i < 20; i++) {
            story.rate("chat", 1).settled().after(Duration.ofSeconds(15)).settled();
            if (story.job("bert").gpus() > 0) {
                story.progress("bert", JobPhase.RUNNING).settled();
            }
        }
        return story.rate("chat", 25).settled();
    }

    private static List<DomainEvent> inputs(Scenario story) {
        return story.log().stream()
                .filter(event -> !(event.event() instanceof Tick) && !(event.event() instanceof SchedulerStarted))
                .toList();
    }

    private SnapshotShelf shelf(List<SnapshotPart> parts) {
        SnapshotShelf shelf = new SnapshotShelf();
        parts.forEach(shelf::take);
        return shelf;
    }

    @Test
    void areWrittenAfterSoManyEvents() {
        try (Loop loop = Loop.snapshotting(BY_EVENTS)) {
            inputs(morning()).forEach(event -> loop.tell(event.event()));

            List<DomainEvent> log = loop.events();
            List<Long> expected = log.stream()
                    .map(DomainEvent::sequence)
                    .filter(sequence -> sequence % EVENTS == 0)
                    .toList();
            assertThat(expected).hasSizeGreaterThan(2);
            assertThat(shelf(loop.snapshots()).sequences(Scenario.DOMAIN)).isEqualTo(expected);
        }
    }

    @Test
    void areWrittenAfterSoMuchTimeOfTheDomain() {
        try (Loop loop = Loop.snapshotting(BY_TIME)) {
            inputs(morning()).forEach(event -> loop.tell(event.event()));

            List<Long> minutes = new ArrayList<>();
            SnapshotShelf shelf = shelf(loop.snapshots());
            for (long sequence : shelf.sequences(Scenario.DOMAIN)) {
                minutes.add(shelf.nearest(Scenario.DOMAIN, sequence, notes::add)
                                .orElseThrow()
                                .state()
                                .now()
                                .getEpochSecond()
                        / 60);
            }
            assertThat(minutes).hasSizeGreaterThan(3).doesNotHaveDuplicates().isSorted();
        }
    }

    @Test
    void areTheStatesThatTheLogGives() {
        try (Loop loop = Loop.snapshotting(BY_EVENTS)) {
            inputs(morning()).forEach(event -> loop.tell(event.event()));

            SnapshotShelf shelf = shelf(loop.snapshots());
            HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN);
            for (long sequence : shelf.sequences(Scenario.DOMAIN)) {
                Snapshot snapshot =
                        shelf.nearest(Scenario.DOMAIN, sequence, notes::add).orElseThrow();
                assertThat(snapshot.sequence()).isEqualTo(sequence);
                checker.expect(snapshot);
            }
            loop.events().forEach(checker::take);
            assertThat(checker.verdict(loop.decisions(), loop.leases()).violations())
                    .isEmpty();
            assertThat(notes).isEmpty();
        }
    }

    @Test
    void aRestartChangesNone() {
        List<DomainEvent> inputs = inputs(morning());
        int half = inputs.size() / 2;
        try (Loop loop = Loop.snapshotting(BY_EVENTS)) {
            inputs.subList(0, half).forEach(event -> loop.tell(event.event()));
            List<SnapshotPart> parts = new ArrayList<>(loop.snapshots());
            List<DomainEvent> log = new ArrayList<>(loop.events());
            try (Loop next = loop.restarted(TimeMode.WALL)) {
                inputs.subList(half, inputs.size()).forEach(event -> next.tell(event.event()));
                parts.addAll(next.snapshots());
                log.addAll(next.events());

                SnapshotShelf shelf = shelf(parts);
                assertThat(shelf.sequences(Scenario.DOMAIN))
                        .isEqualTo(log.stream()
                                .map(DomainEvent::sequence)
                                .filter(sequence -> sequence % EVENTS == 0)
                                .toList());
                HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN);
                shelf.sequences(Scenario.DOMAIN)
                        .forEach(sequence -> checker.expect(shelf.nearest(Scenario.DOMAIN, sequence, notes::add)
                                .orElseThrow()));
                log.forEach(checker::take);
                List<io.lendstream.core.decision.Decision> decisions = new ArrayList<>(loop.decisions());
                decisions.addAll(next.decisions());
                assertThat(checker.verdict(decisions, next.leases()).violations())
                        .noneMatch(violation -> violation.rule().equals("snapshot"));
            }
        }
    }

    @Test
    void aDomainThatIsTooLargeForOnePartIsWrittenPartByPartWithTheEventsThatFollow() {
        try (Loop loop = Loop.snapshotting(BY_EVENTS)) {
            Scenario story = Scenario.of("deepboot");
            for (int i = 0; i < EVENTS - 2; i++) {
                story.node("n" + i, Pool.TRAINING, 500);
            }
            for (int i = 0; i < 15; i++) {
                story.node("m" + i, Pool.TRAINING, 1);
            }
            inputs(story).forEach(event -> loop.tell(event.event()));

            List<SnapshotPart> parts = loop.snapshots();
            assertThat(parts)
                    .filteredOn(part -> part.position().eventSequence() == EVENTS)
                    .hasSizeGreaterThan(1);
            assertThat(shelf(parts).sequences(Scenario.DOMAIN)).containsExactly(10L, 20L);
            assertThat(shelf(parts)
                            .nearest(Scenario.DOMAIN, EVENTS, notes::add)
                            .orElseThrow()
                            .state()
                            .gpus()
                            .size())
                    .isGreaterThan(1000);
        }
    }

    @Test
    void aPaceIsPositive() {
        assertThatThrownBy(() -> new SnapshotPace(0, Duration.ofMinutes(1)))
                .hasMessageContaining("scheduler.snapshot-events must be at least 1, but is 0");
        assertThatThrownBy(() -> new SnapshotPace(1, Duration.ofMillis(10)))
                .hasMessageContaining("scheduler.snapshot-every must be at least 1s");
    }
}
