package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.fixtures.Stories;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.scheduler.StepEncoder.Output;
import io.lendstream.scheduler.StepRunner.PreparedStep;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Decisions are written, and alternatives are weighed, when no decision waits to be committed. */
class WeighingTest {
    private final FakeRegistry registry = new FakeRegistry();
    private final OutputWriter writer = new OutputWriter(
            TopicCatalogue.standard(),
            SerdeFactory.of(Map.of(RegistrySettings.URL, registry.url())),
            new Patience(1, Duration.ofMillis(1), () -> false));
    private final StepEncoder encoder = new StepEncoder(writer);
    private final Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
    private final List<Decision> decisions = new ArrayList<>();

    @AfterEach
    void stop() {
        registry.close();
    }

    @Test
    void nothingIsWeighedWhileADecisionWaits() {
        assertThat(alternatives(event -> true)).isEmpty();
        assertThat(alternatives(event -> false)).isNotEmpty();
    }

    @Test
    void decisionsAreWrittenOnceWhenNoneWaits() {
        assertThat(written(event -> true)).isEmpty();
        assertThat(written(event -> event % 2 == 0)).isNotEmpty().isEqualTo(written(event -> false));
    }

    @Test
    void tooManyDecisionsAreWrittenThoughOneWaits() {
        Scenario story = Stories.lending(60, 50);
        ClusterState state = ClusterState.empty(story.log().get(0).domain());
        DomainEvent event = story.log().get(0);
        Step none = scheduler.step(state, event);
        KeptReasons reasons = new KeptReasons(encoder);
        alternatives(any -> false);
        Decision one =
                decisions.stream().filter(Decision::isReclaim).findFirst().orElseThrow();
        Step many = new Step(none.state(), Collections.nCopies(KeptReasons.MOST_UNWRITTEN + 3, one), none.changed());

        assertThat(reasons.after(made(event, new ReasonNotes(), many), true, 0, 0))
                .hasSize(3);
        assertThat(reasons.atRest(KeptReasons.WRITTEN_AFTER_MILLIS - 1)).isEmpty();
        assertThat(reasons.atRest(KeptReasons.WRITTEN_AFTER_MILLIS)).hasSize(KeptReasons.MOST_AT_ONCE);
        assertThat(reasons.atRest(-3_600_000)).as("the clock was set back").hasSize(KeptReasons.MOST_AT_ONCE);
    }

    @Test
    void whatWasNotWeighedIsWeighedLater() {
        List<KeptReason> atOnce = alternatives(event -> false);
        List<KeptReason> later = alternatives(event -> event % 2 == 0);

        assertThat(later)
                .extracting(KeptReason::id)
                .containsExactlyElementsOf(atOnce.stream().map(KeptReason::id).toList());
    }

    @Test
    void theLossesOfAReclaimAreWeighedOnceForEachDecision() {
        List<KeptReason> kept = alternatives(event -> false);
        List<DecisionId> reclaims =
                decisions.stream().filter(Decision::isReclaim).map(Decision::id).toList();

        assertThat(kept)
                .filteredOn(reason -> reclaims.contains(reason.id()))
                .isNotEmpty()
                .allSatisfy(reason -> assertThat(reason.alternatives())
                        .hasSizeBetween(1, KeptReasons.MOST_ALTERNATIVES)
                        .anyMatch(Alternative::chosen))
                .extracting(KeptReason::id)
                .containsExactlyElementsOf(reclaims);
    }

    @Test
    void theSizesOfPlannedChangesAreWeighed() {
        List<KeptReason> kept = alternatives(event -> false);
        List<DecisionId> planned = decisions.stream()
                .filter(decision -> decision.reason().is(ReasonCode.PLAN))
                .map(Decision::id)
                .toList();

        assertThat(kept)
                .filteredOn(reason -> planned.contains(reason.id()))
                .isNotEmpty()
                .allSatisfy(
                        reason -> assertThat(reason.alternatives()).hasSizeBetween(1, KeptReasons.MOST_ALTERNATIVES));
    }

    /** Of another domain, a decision is made before each event, so that there is always one that is not written. */
    @Test
    void alternativesAreWeighedThoughDecisionsOfOthersAreNotWritten() {
        List<KeptReason> quiet = alternatives(event -> false);
        Decision one =
                decisions.stream().filter(Decision::isReclaim).findFirst().orElseThrow();
        DomainId other = new DomainId("other");

        List<KeptReason> busy = play(event -> false, (reasons, event, now) -> {
            DomainEvent theirs = new DomainEvent(
                    other, 1, event.sequence(), event.at(), Optional.empty(), new Tick(other, event.at()));
            Step none = scheduler.step(ClusterState.empty(other), first(theirs));
            Step step = new Step(none.state(), List.of(one), none.changed());
            reasons.after(made(theirs, new ReasonNotes(), step), false, 0, now);
        });

        assertThat(busy.stream().filter(reason -> reason.decision().isEmpty()).map(KeptReason::id))
                .containsExactlyElementsOf(quiet.stream().map(KeptReason::id).toList());
    }

    private static DomainEvent first(DomainEvent event) {
        return new DomainEvent(event.domain(), 1, 1, event.at(), Optional.empty(), event.event());
    }

    /** What comes before an event of a story. */
    private interface Before {
        void take(KeptReasons reasons, DomainEvent event, long now);
    }

    /** The decisions that are written of a story, in which a decision waits after some of the events. */
    private List<Decision> written(LongPredicate isWaitedFor) {
        return play(isWaitedFor).stream()
                .flatMap(reason -> reason.decision().stream())
                .toList();
    }

    /** The kept alternatives of a story, in which a decision waits after some of the events. */
    private List<KeptReason> alternatives(LongPredicate isWaitedFor) {
        return play(isWaitedFor).stream()
                .filter(reason -> reason.decision().isEmpty())
                .toList();
    }

    /** What is kept of a story, in which a decision waits after some of the events. Events are a second apart. */
    private List<KeptReason> play(LongPredicate isWaitedFor) {
        return play(isWaitedFor, (reasons, event, now) -> {});
    }

    private List<KeptReason> play(LongPredicate isWaitedFor, Before before) {
        Scenario story = Stories.lending(60, 50);
        KeptReasons reasons = new KeptReasons(encoder);
        List<Output> outputs = new ArrayList<>();
        ClusterState state = ClusterState.empty(story.log().get(0).domain());
        long now = 0;
        for (DomainEvent event : story.log()) {
            ReasonNotes notes = new ReasonNotes();
            Step step = scheduler.step(state, event, notes);
            state = step.state();
            decisions.addAll(step.decisions());
            now += 1000;
            before.take(reasons, event, now - 1);
            outputs.addAll(reasons.after(made(event, notes, step), isWaitedFor.test(event.sequence()), 0, now));
        }
        return outputs.stream()
                .map(output ->
                        writer.read(TopicCatalogue.REASONS, output.record().value()))
                .toList();
    }

    private PreparedStep made(DomainEvent event, ReasonNotes notes, Step step) {
        return new PreparedStep(
                scheduler, event, notes, step, encoder.encode(event, step, 0), new DomainStore.Changes());
    }
}
