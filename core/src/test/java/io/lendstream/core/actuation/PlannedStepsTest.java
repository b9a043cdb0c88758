package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.TRAINING;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.seconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** State of a version whose simulated steps happened by themselves; each step here was due 10 s after noon. */
class PlannedStepsTest {
    private static final DecisionId DECISION = new DecisionId(DOMAIN, 1, 4);
    private static final Timings MEASURED =
            new Timings(Optional.empty(), Optional.of(seconds(2)), Optional.of(seconds(3)), Optional.empty());

    private static PendingStep saved(PendingStep.Kind kind, String reason) {
        return step(at(10), kind, MEASURED, reason);
    }

    private static PendingStep awaited(Instant due, PendingStep.Kind kind, String reason) {
        return step(due, kind, Timings.NONE, reason);
    }

    private static PendingStep step(Instant due, PendingStep.Kind kind, Timings timings, String reason) {
        return new PendingStep(due, at(0), 7, kind, DECISION, Optional.of(BERT), gpus("t1", "t2"), timings, reason);
    }

    private static ActuationSnapshot read(PendingStep step) {
        return PlannedSteps.awaited(snapshot(List.of(step), List.of(), Optional.empty()));
    }

    private static ActuationSnapshot snapshot(
            List<PendingStep> steps, List<Holding> holdings, Optional<List<ExpectedEvent>> expected) {
        return new ActuationSnapshot(
                at(5),
                9,
                List.of(DECISION),
                holdings,
                steps,
                List.of(new Order.Place(DECISION, BERT, gpus("t1"), List.of(), Optional.empty(), at(60))),
                List.of(new Order.Cut(DECISION, new GpuId("i1"), List.of())),
                expected,
                List.of(new ActuationSnapshot.Count(Refusal.ADVISORY, 2)));
    }

    private static List<ExpectedEvent> expected(DriverEvent event) {
        return List.of(new ExpectedEvent(at(10), 7, event));
    }

    @Test
    void aReleaseIsAwaitedAndItsTenantWillStop() {
        ActuationSnapshot read = read(saved(PendingStep.Kind.RELEASE, "lease"));

        assertThat(read.steps()).containsExactly(awaited(at(10), PendingStep.Kind.RELEASE, "lease"));
        assertThat(read.expected()).contains(expected(new DriverEvent.Stopped(BERT, gpus("t1", "t2"), false, "")));
    }

    @Test
    void aTenantThatWasToBeForcedWillNotStopBeforeItsDeadline() {
        ActuationSnapshot read = read(saved(PendingStep.Kind.FORCE, "still there at the deadline"));

        assertThat(read.steps()).containsExactly(awaited(at(10), PendingStep.Kind.RELEASE, ""));
        assertThat(read.expected()).contains(List.of());
    }

    @Test
    void aBindIsAwaitedAndItsTenantWillStart() {
        ActuationSnapshot read = read(saved(PendingStep.Kind.BIND, ""));

        assertThat(read.steps()).containsExactly(awaited(at(10), PendingStep.Kind.BIND, ""));
        assertThat(read.expected()).contains(expected(new DriverEvent.Started(BERT, gpus("t1", "t2"))));
    }

    @Test
    void aBindThatWasToFailIsAwaitedAndWillFail() {
        ActuationSnapshot read = read(saved(PendingStep.Kind.FAIL, "did not come up"));

        assertThat(read.steps()).containsExactly(awaited(at(10), PendingStep.Kind.BIND, ""));
        assertThat(read.expected()).contains(expected(new DriverEvent.Failed(BERT, DECISION, "did not come up")));
    }

    @Test
    void aChangeIsAwaitedForFiveMinutesMoreAndWillBeInForce() {
        ActuationSnapshot read = read(saved(PendingStep.Kind.APPLY, "without t3"));

        assertThat(read.steps()).containsExactly(awaited(at(310), PendingStep.Kind.APPLY, "without t3"));
        assertThat(read.expected()).contains(expected(new DriverEvent.InForce(BERT, DECISION)));
    }

    @Test
    void aCutIsAwaitedAndItsGpuWillBeCut() {
        ActuationSnapshot read = read(saved(PendingStep.Kind.RECUT, ""));

        assertThat(read.steps()).containsExactly(awaited(at(10), PendingStep.Kind.RECUT, ""));
        assertThat(read.expected()).contains(expected(new DriverEvent.Cut(DECISION, new GpuId("t1"), true, "")));
    }

    @Test
    void stepsThatOnlyARealDriverHasAreDropped() {
        List<PendingStep.Kind> kinds =
                List.of(PendingStep.Kind.RETURN, PendingStep.Kind.NOT_CUT, PendingStep.Kind.GIVE_UP);
        for (PendingStep.Kind kind : kinds) {
            ActuationSnapshot read = read(saved(kind, ""));

            assertThat(read.steps()).isEmpty();
            assertThat(read.expected()).contains(List.of());
        }
    }

    @Test
    void allButTheStepsIsAsItWasSaved() {
        var holding = new Holding(new GpuId("t1"), BERT, Holding.Phase.BOUND, Optional.empty());

        assertThat(PlannedSteps.awaited(snapshot(List.of(), List.of(holding), Optional.empty())))
                .isEqualTo(snapshot(List.of(), List.of(holding), Optional.of(List.of())));
    }

    @Test
    void stateOfThisVersionIsReadAsItIs() {
        ActuationSnapshot saved =
                snapshot(List.of(saved(PendingStep.Kind.FORCE, "")), List.of(), Optional.of(List.of()));

        assertThat(PlannedSteps.awaited(saved)).isSameAs(saved);
    }

    private static Actuation restored(List<PendingStep> steps, Holding... holdings) {
        var old = new ActuationSnapshot(
                at(5),
                9,
                List.of(DECISION),
                List.of(holdings),
                steps,
                List.of(),
                List.of(),
                Optional.empty(),
                List.of());
        return Actuation.restore("a", seconds(45), new SimulatedDriver(SimulatedDelays.realistic()), old);
    }

    @Test
    void aJobThatWasComingUpIsUpAndInForceWhenItWasToBe() {
        Actuation actuation = restored(
                List.of(saved(PendingStep.Kind.BIND, ""), step(at(20), PendingStep.Kind.APPLY, Timings.NONE, "")),
                new Holding(new GpuId("t1"), BERT, Holding.Phase.BINDING, Optional.empty()),
                new Holding(new GpuId("t2"), BERT, Holding.Phase.BINDING, Optional.empty()));
        actuation.know(TRAINING);

        assertThat(actuation.advance(at(60)))
                .extracting(ActuationReport::at, ActuationReport::outcome, ActuationReport::gpus)
                .containsExactly(
                        tuple(at(10), Outcome.BOUND, gpus("t1", "t2")),
                        tuple(at(20), Outcome.APPLIED, gpus("t1", "t2")));
        assertThat(actuation.nextEventAt()).isEmpty();
    }

    @Test
    void aJobOfWhichNoDecisionIsKnownFollowsTheDomainOfItsGpus() {
        Actuation actuation =
                restored(List.of(), new Holding(new GpuId("t1"), BERT, Holding.Phase.BOUND, Optional.empty()));
        assertThat(actuation.home(BERT.job())).isEmpty();

        actuation.know(TRAINING);

        assertThat(actuation.home(BERT.job())).contains(DOMAIN);
    }

    @Test
    void aJobFollowsTheDomainThatLentToItThoughNoNodeHasItsGpu() {
        var loan = new Holding.Loan(DECISION, at(400));

        Actuation actuation =
                restored(List.of(), new Holding(new GpuId("i1"), BERT, Holding.Phase.BOUND, Optional.of(loan)));

        assertThat(actuation.home(BERT.job())).contains(DOMAIN);
    }
}
