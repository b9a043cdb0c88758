package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.launcher.operation.Finding.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ActuatorWatchTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final DomainId EAST = new DomainId("east");

    private final ActuatorWatch watch = new ActuatorWatch();

    private static Instant ago(int seconds) {
        return NOW.minusSeconds(seconds);
    }

    private static Decision decision(long sequence, Instant at) {
        Instant deadline = at.plusSeconds(45);
        return new Decision(
                new DecisionId(EAST, 1, sequence),
                at,
                deadline,
                false,
                new Reason("lease", "", Map.of(), List.of(1L)),
                new Action.Renew(List.of(new GpuId("g0")), deadline));
    }

    private void take(Decision decision) {
        watch.takeDecision(decision, decision.at());
    }

    private static ActuationReport report(long sequence, Instant at, Outcome outcome) {
        return new ActuationReport(
                EAST,
                new DecisionId(EAST, 1, sequence),
                "a",
                at,
                outcome,
                List.of(new GpuId("g0")),
                Optional.empty(),
                Timings.NONE,
                "");
    }

    @Test
    void anAnswerCountsInAnyOrder() {
        watch.takeReport(report(1, ago(29), Outcome.ACCEPTED));
        take(decision(1, ago(30)));
        take(decision(2, ago(20)));

        assertThat(watch.problems(NOW))
                .extracting(Finding::found)
                .singleElement()
                .asString()
                .endsWith("for up to 20s, more than 10s: east/1/2");

        watch.takeReport(report(2, ago(1), Outcome.REJECTED));

        assertThat(watch.problems(NOW)).isEmpty();
    }

    @Test
    void aDecisionOfASchedulerThatLagsWaitsFromTheTimeAtWhichItWasWritten() {
        watch.takeReport(report(9, ago(1), Outcome.HOLDS));
        watch.takeDecision(decision(1, ago(30)), ago(10));

        assertThat(watch.problems(NOW)).isEmpty();
        assertThat(watch.problems(NOW.plusSeconds(1)))
                .extracting(Finding::found)
                .containsExactly(
                        "1 of 1 binding decision of the last hour waits for an answer, for up to 11s, more than 10s: east/1/1");
    }

    @Test
    void theClockOfTheBrokerMakesNoDecisionOlder() {
        watch.takeReport(report(9, ago(1), Outcome.HOLDS));
        watch.takeDecision(decision(1, ago(10)), ago(40));

        assertThat(watch.problems(NOW)).isEmpty();
    }

    @Test
    void aKilledActuatorIsAProblemFromTheFirstLateReport() {
        for (int seconds : List.of(90, 80, 70, 60)) {
            watch.takeReport(report(1, ago(seconds), Outcome.HOLDS));
        }

        assertThat(watch.problems(ago(40))).isEmpty();
        assertThat(watch.problems(ago(39))).extracting(Finding::level).containsExactly(Level.WARN);
        assertThat(watch.problems(ago(29)))
                .extracting(Finding::found)
                .containsExactly(
                        "no actuator is alive; no decision waits for one",
                        "a has reported nothing for 31s, more than 30s");
    }

    @Test
    void withoutADecisionAnUnknownActuatorIsNoProblem() {
        assertThat(watch.problems(NOW)).isEmpty();
    }

    @Test
    void afterAMinuteWithoutAnyReportNoActuatorIsAlive() {
        take(decision(1, ago(61)));

        assertThat(watch.problems(NOW))
                .extracting(Finding::line)
                .singleElement()
                .asString()
                .startsWith("FAIL actuators: no actuator is alive to carry out 1 binding decision of the last hour;");
    }

    @Test
    void decisionsOfMoreThanAnHourAgoAreNotJudged() {
        watch.takeReport(report(1, ago(5), Outcome.HOLDS));
        take(decision(2, NOW.minus(Duration.ofMinutes(61))));

        assertThat(watch.decisions(NOW, false).line())
                .isEqualTo("ok   actuators: no decisions to carry out in the last hour");
    }

    @Test
    void inVirtualTimeTheNewestDecisionIsNowAndProgressIsASignOfLife() {
        Instant then = NOW.minus(Duration.ofDays(400));
        take(decision(1, then));
        watch.takeReport(report(1, then, Outcome.ACCEPTED));
        take(decision(2, then.plusSeconds(300)));

        assertThat(watch.decisions(NOW, true).isFailure()).isTrue();

        watch.takeProgress(Progress.of(ServiceName.ACTUATOR, EAST, then, Map.of(), Optional.empty()));

        assertThat(watch.decisions(NOW, true).isOk()).isTrue();
    }
}
