package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What became of a decision that has 45 s to start a replica. */
class DecisionOutcomeTest {
    private static final Decision SERVE =
            decision(new Action.Serve(new ServiceId("chat"), List.of(new GpuId("infer-g0")), false));

    private static Decision decision(Action action) {
        return new Decision(
                new DecisionId(Scenario.DOMAIN, 1, 1),
                Scenario.START,
                Scenario.START.plusSeconds(45),
                false,
                new Reason("demand", "", Map.of(), List.of()),
                action);
    }

    private static DecisionOutcome fate(ActuationReport... reports) {
        return DecisionOutcome.of(SERVE, List.of(reports), Scenario.START.plusSeconds(60));
    }

    private static ActuationReport report(Outcome outcome, double seconds) {
        return report(SERVE.id(), "kubernetes", outcome, seconds, "");
    }

    private static ActuationReport report(
            DecisionId decision, String actuator, Outcome outcome, double seconds, String reason) {
        return new ActuationReport(
                Scenario.DOMAIN,
                decision,
                actuator,
                Scenario.START.plusMillis(Math.round(1000 * seconds)),
                outcome,
                List.of(),
                Optional.empty(),
                Timings.NONE,
                reason);
    }

    @Test
    void aDecisionInForceAtItsDeadlineIsInTimeAndAfterItIsLate() {
        assertThat(fate(report(Outcome.APPLIED, 45)).inWords()).isEqualTo("in force after 45.0 s (limit 45.0 s)");
        assertThat(fate(report(Outcome.APPLIED, 44.5)).inWords()).isEqualTo("in force after 44.5 s (limit 45.0 s)");
        assertThat(fate(report(Outcome.APPLIED, 46.5)).inWords())
                .isEqualTo("in force after 46.5 s, 1.5 s late (limit 45.0 s)");
    }

    @Test
    void aFailedDecisionNamesTheActuatorAndItsReasonIfThereIsOne() {
        ActuationReport failed = report(SERVE.id(), "slurm", Outcome.FAILED, 3, "no such image");

        assertThat(fate(failed).inWords()).isEqualTo("failed by slurm after 3.0 s: no such image");
        assertThat(fate(report(Outcome.TIMED_OUT, 60)).inWords()).isEqualTo("timed out by kubernetes after 60.0 s");
    }

    @Test
    void aDecisionThatWasTakenUpIsInProgressWithTheLatestReport() {
        DecisionOutcome fate = fate(report(Outcome.BOUND, 7), report(Outcome.ACCEPTED, 1), report(Outcome.RELEASED, 2));

        assertThat(fate.took()).isEmpty();
        assertThat(fate.inWords()).isEqualTo("in progress: the last report is bound");
    }

    @Test
    void aRefusalByAnotherActuatorDoesNotEndADecision() {
        ActuationReport refusal = report(SERVE.id(), "slurm", Outcome.REJECTED, 9, "not this actuator's");

        DecisionOutcome fate = fate(report(Outcome.APPLIED, 8), refusal);
        assertThat(fate.took()).contains(Duration.ofSeconds(8));
        assertThat(fate.inWords()).isEqualTo("in force after 8.0 s (limit 45.0 s)");

        DecisionOutcome refused = fate(report(Outcome.ACCEPTED, 1), refusal);
        assertThat(refused.took()).contains(Duration.ofSeconds(9));
        assertThat(refused.inWords()).isEqualTo("rejected by slurm after 9.0 s: not this actuator's");
    }

    @Test
    void theLastOfTwoReportsThatEndADecisionCounts() {
        assertThat(fate(report(Outcome.APPLIED, 8), report(Outcome.FAILED, 5)).took())
                .contains(Duration.ofSeconds(8));
        assertThat(fate(report(Outcome.APPLIED, 8), report(Outcome.TIMED_OUT, 50))
                        .took())
                .contains(Duration.ofSeconds(50));
    }

    @Test
    void reportsOnOtherDecisionsAndStockTakingDoNotCount() {
        ActuationReport ofAnother = report(new DecisionId(Scenario.DOMAIN, 1, 2), "kubernetes", Outcome.APPLIED, 2, "");

        DecisionOutcome fate = fate(ofAnother, report(Outcome.HOLDS, 3));

        assertThat(fate.reports()).isEmpty();
        assertThat(fate.inWords()).isEqualTo("no actuator has reported on it; it was due at 2026-01-01 00:00:45 UTC");
    }

    @Test
    void nothingIsToBeDoneForAHold() {
        Decision hold = decision(new Action.Hold(Optional.empty(), Optional.of(new ServiceId("chat"))));

        assertThat(DecisionOutcome.of(hold, List.of(), Scenario.START.plusSeconds(60))
                        .inWords())
                .isEqualTo("nothing was to be done");
    }
}
