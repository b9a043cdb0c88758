package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which of an event and a deadline comes first; the deadline is 10 s after noon. */
class ExpectedEventTest {
    private static final DecisionId DECISION = new DecisionId(DOMAIN, 1, 1);
    private static final DriverEvent STOPPED = new DriverEvent.Stopped(BERT, gpus("t1"), false, "");
    private static final DriverEvent FAILED = new DriverEvent.Failed(BERT, DECISION, "no room");
    private static final DriverEvent CUT = new DriverEvent.Cut(DECISION, new GpuId("t1"), true, "");
    private static final DriverEvent STARTED = new DriverEvent.Started(BERT, gpus("t1"));
    private static final DriverEvent IN_FORCE = new DriverEvent.InForce(BERT, DECISION);

    private static List<PendingStep.Kind> inTime(double second, DriverEvent event) {
        return Stream.of(PendingStep.Kind.values())
                .filter(kind -> new ExpectedEvent(at(second), 0, event).isBefore(deadline(kind)))
                .toList();
    }

    private static PendingStep deadline(PendingStep.Kind kind) {
        return new PendingStep(at(10), at(0), 0, kind, DECISION, Optional.of(BERT), gpus("t1"), Timings.NONE, "");
    }

    @Test
    void anEventIsInTimeBeforeADeadlineAndNotAfterIt() {
        for (DriverEvent event : List.of(STOPPED, FAILED, CUT, STARTED, IN_FORCE)) {
            assertThat(inTime(9.999, event)).containsExactly(PendingStep.Kind.values());
            assertThat(inTime(10.001, event)).isEmpty();
        }
    }

    @Test
    void atADeadlineATenantThatLeavesOrCannotStartIsInTime() {
        for (DriverEvent event : List.of(STOPPED, FAILED, CUT)) {
            assertThat(inTime(10, event)).containsExactly(PendingStep.Kind.values());
        }
    }

    @Test
    void atTheDeadlineOfAReleaseTheTenantIsKilledBeforeAnotherStarts() {
        assertThat(inTime(10, STARTED))
                .hasSize(PendingStep.Kind.values().length - 2)
                .contains(PendingStep.Kind.BIND, PendingStep.Kind.APPLY)
                .doesNotContain(PendingStep.Kind.RELEASE, PendingStep.Kind.FORCE);
    }

    @Test
    void atADeadlineAChangeInForceComesTooLate() {
        assertThat(inTime(10, IN_FORCE)).isEmpty();
    }

    @Test
    void ofEventsOfOneTimeStopsAreFirstThenStartsThenChangesInForce() {
        var later = new ExpectedEvent(at(11), 0, STOPPED);
        var inForce = new ExpectedEvent(at(10), 1, IN_FORCE);
        var started = new ExpectedEvent(at(10), 3, STARTED);
        var startedBefore = new ExpectedEvent(at(10), 2, STARTED);
        var stopped = new ExpectedEvent(at(10), 5, STOPPED);
        var failed = new ExpectedEvent(at(10), 4, FAILED);

        assertThat(Stream.of(later, inForce, started, startedBefore, stopped, failed)
                        .sorted())
                .containsExactly(failed, stopped, startedBefore, started, inForce, later);
    }
}
