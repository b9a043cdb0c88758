package io.lendstream.core.history;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.LendingReview;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.ClusterState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Replays that begin after a snapshot find what replays of the whole log find. */
class SnapshotReplayTest {
    private final Scenario story = story();
    private final Map<Long, Snapshot> snapshots = snapshots(story.log());

    /** Loans and reclaims under two schedulers, with a queue, a command and a fault. */
    private static Scenario story() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .queue("team", 3)
                .service("chat", 1)
                .settled()
                .job("bert", 2)
                .settled()
                .job("gpt", 4, "team")
                .settled();
        for (int i = 0; i < 20; i++) {
            play(story, i % 8 == 7 ? 15 : 1);
        }
        story.control(ControlCommand.Kind.FREEZE).after(ofSeconds(30)).control(ControlCommand.Kind.THAW);
        story.takenOverBy(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withAfe(false)));
        for (int i = 0; i < 20; i++) {
            play(story, i % 8 == 7 ? 25 : 1);
        }
        return story;
    }

    private static void play(Scenario story, double rate) {
        story.rate("chat", rate).settled().after(ofSeconds(15)).settled();
        for (String job : List.of("bert", "gpt")) {
            if (story.job(job).gpus() > 0) {
                story.progress(job, JobPhase.RUNNING).settled();
            }
        }
    }

    /** The state after each event, by its sequence. */
    private static Map<Long, Snapshot> snapshots(List<DomainEvent> log) {
        Map<Long, Snapshot> snapshots = new TreeMap<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        Optional<Scheduler> scheduler = Optional.empty();
        for (DomainEvent event : log) {
            scheduler = event.event().asStarted().map(Scheduler::of).or(Optional.of(scheduler)::get);
            state = scheduler.orElseThrow().step(state, event).state();
            snapshots.put(event.sequence(), new Snapshot(scheduler.get().inOffice(state), state, "test"));
        }
        return snapshots;
    }

    private Explanation explain(Decision decision, long from) {
        Explainer explainer = new Explainer(decision);
        Optional.ofNullable(snapshots.get(from)).ifPresent(explainer::after);
        story.log().forEach(explainer::take);
        return explainer.explanation();
    }

    @Test
    void explainsADecisionAsTheWholeLogDoes() {
        assertThat(story.decisions())
                .extracting(decision -> decision.action().kind())
                .contains("lend", "reclaim", "serve");
        int plansBefore = 0;
        for (Decision decision : story.decisions()) {
            Explanation whole = explain(decision, 0);
            assertThat(whole.isAsRecorded()).isTrue();
            long trigger = decision.reason().inputs().stream()
                    .mapToLong(Long::longValue)
                    .max()
                    .orElseThrow();
            for (long from = trigger - 1; from > 0; from -= 37) {
                Explainer explainer = new Explainer(decision).after(snapshots.get(from));
                story.log().forEach(explainer::take);
                Explanation part = explainer.explanation();
                assertThat(part.start().orElseThrow().eventSequence()).isEqualTo(from);
                if (explainer.missesPlan()) {
                    plansBefore++;
                    assertThat(part.isAsRecorded()).isTrue();
                    continue;
                }
                assertThat(new Explanation(
                                part.recorded(), part.inputs(), part.missing(), part.made(), part.obstacle()))
                        .isEqualTo(whole);
            }
        }
        assertThat(plansBefore).isLessThan(story.decisions().size());
    }

    @Test
    void eventsBeforeTheSnapshotThatTheDecisionRestsOnAreMissingUnlessTheyAreGiven() {
        Decision decision = story.decisions().stream()
                .filter(each -> each.reason().inputs().size() > 1)
                .reduce((one, other) -> other)
                .orElseThrow();
        long trigger = decision.reason().inputs().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElseThrow();
        Explainer explainer = new Explainer(decision).after(snapshots.get(trigger - 1));
        explainer.take(story.log().get((int) trigger - 1));

        assertThat(explainer.explanation().isAsRecorded()).isTrue();
        assertThat(explainer.explanation().missing())
                .isEqualTo(decision.reason().inputs().stream()
                        .filter(input -> input < trigger)
                        .toList());
    }

    @Test
    void reviewsTheEndAsTheWholeLogDoes() {
        LendingExplainer whole = new LendingExplainer(Scenario.DOMAIN);
        story.log().forEach(whole::take);
        for (long from : List.of(10L, 100L, (long) story.log().size())) {
            LendingExplainer part = new LendingExplainer(Scenario.DOMAIN).after(snapshots.get(from));
            story.log().forEach(part::take);

            assertThat(part.obstacle()).isEmpty();
            assertThat(part.lastEvent()).isEqualTo(whole.lastEvent());
            assertThat(part.review(story.now()).map(LendingReview::inference))
                    .isEqualTo(whole.review(story.now()).map(LendingReview::inference));
        }
    }

    @Test
    void aHistoryIsCheckedFromAnySnapshotOn() {
        for (long from = 1; from < story.log().size(); from += 7) {
            HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN).after(snapshots.get(from));
            story.log().forEach(checker::take);
            Verdict verdict = checker.verdict(story.decisions(), story.leases());

            assertThat(verdict.violations()).as("from %d", from).isEmpty();
            assertThat(verdict.events()).isEqualTo((int) (story.log().size() - from));
            assertThat(checker.limits().get(0)).contains("after event " + from);
        }
        assertThat(new HistoryChecker(Scenario.DOMAIN).limits()).isEmpty();
    }

    @Test
    void findsAnotherDecisionAfterASnapshot() {
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN).after(snapshots.get(20L));
        story.log().forEach(checker::take);
        List<Decision> published = new ArrayList<>(story.decisions());
        published.remove(published.size() - 1);

        assertThat(checker.verdict(published, story.leases()).violations())
                .extracting(Violation::rule)
                .containsExactly("replay");
    }

    @Test
    void judgesOnlyReportsSinceTheSnapshot() {
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN).after(snapshots.get(50L));
        story.log().forEach(checker::take);
        story.log().stream().flatMap(event -> event.event().asReport().stream()).forEach(checker::heard);

        assertThat(checker.verdict(story.decisions(), story.leases()).violations())
                .isEmpty();
    }

    @Test
    void theSnapshotsOfTheLogAreRight() {
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN);
        snapshots.values().forEach(checker::expect);
        story.log().forEach(checker::take);

        assertThat(checker.verdict(story.decisions(), story.leases()).violations())
                .isEmpty();
    }

    @Test
    @Breaks("snapshot")
    void aSnapshotWithAnotherStateIsFound() {
        Snapshot wrong = snapshots.get(100L);
        ClusterState other = snapshots.get(101L).state();
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN);
        checker.expect(new Snapshot(
                wrong.scheduler(),
                new ClusterState(
                        other.domain(),
                        wrong.state().position(),
                        wrong.state().nextPlanAt(),
                        new ClusterState.Mode(true, false, false),
                        other.pacing(),
                        other.slices(),
                        other.advice(),
                        other.promises(),
                        other.loanStarts(),
                        wrong.state()
                                .entities()
                                .without(wrong.state().gpus().firstKey().orElseThrow())),
                "test"));
        story.log().forEach(checker::take);

        assertThat(checker.verdict(story.decisions(), story.leases()).violations())
                .singleElement()
                .satisfies(violation -> {
                    assertThat(violation.rule()).isEqualTo("snapshot");
                    assertThat(violation.text()).contains("event 100", "GPU infer");
                });
    }
}
