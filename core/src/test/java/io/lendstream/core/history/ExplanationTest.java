package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ExplanationTest {
    private static final Reason REASON = new Reason("demand", "a peak", Map.of(), List.of(1L));
    private static final Decision RECORDED = new Decision(
            new DecisionId(Scenario.DOMAIN, 1, 1),
            Scenario.START,
            Scenario.START.plusSeconds(45),
            false,
            REASON,
            new Action.Serve(new ServiceId("chat"), List.of(new GpuId("infer-g0")), false));

    private static Explanation explanation(Optional<Decision> again) {
        Explanation.Made made = new Explanation.Made(
                again,
                "deepboot",
                new ClusterState.Mode(false, false, false),
                Optional.empty(),
                List.of(),
                List.of(),
                new TreeMap<>(),
                Optional.empty(),
                List.of(),
                new TreeMap<>());
        return new Explanation(RECORDED, List.of(), List.of(), Optional.of(made), Optional.empty());
    }

    @Test
    void aDecisionThatIsMadeAgainDiffersInNothing() {
        assertThat(explanation(Optional.of(RECORDED)).isAsRecorded()).isTrue();
        assertThat(explanation(Optional.of(RECORDED)).differences()).isEmpty();
    }

    @Test
    void namesEveryPartInWhichADecisionDiffersFromTheRecordedOne() {
        Decision again = new Decision(
                RECORDED.id(),
                Scenario.START.plusSeconds(1),
                Scenario.START.plusSeconds(46),
                true,
                new Reason("demand", "a whim", Map.of(), List.of(1L)),
                new Action.Hold(Optional.empty(), Optional.empty()));

        Explanation explanation = explanation(Optional.of(again));

        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.differences())
                .containsExactly(
                        "at is recorded as 2026-01-01T00:00:00Z, but the log gives 2026-01-01T00:00:01Z",
                        "deadline is recorded as 2026-01-01T00:00:45Z, but the log gives 2026-01-01T00:00:46Z",
                        "advisory is recorded as false, but the log gives true",
                        "action is recorded as Serve[service=chat, gpus=[infer-g0], warm=false, replicas=[]], "
                                + "but the log gives Hold[job=Optional.empty, service=Optional.empty, queue=Optional.empty, ability=Optional.empty]",
                        "reason is recorded as Reason[code=demand, text=a peak, numbers={}, inputs=[1]], "
                                + "but the log gives Reason[code=demand, text=a whim, numbers={}, inputs=[1]]");
    }

    @Test
    void aReasonInOtherWordsIsToldFromAnotherReason() {
        assertThat(explanation(because("demand", "a whim", List.of(1L))).isInOtherWords())
                .isTrue();
        assertThat(inNumbers(Map.of("needed", 4.0), Map.of("needed", 4.0, "running", 3.0)))
                .isTrue();
        assertThat(inNumbers(Map.of("needed", 4.0), Map.of("needed", 5.0))).isFalse();
        assertThat(explanation(because("plan", "a whim", List.of(1L))).isInOtherWords())
                .isFalse();
        assertThat(explanation(because("demand", "a whim", List.of(2L))).isInOtherWords())
                .isFalse();
        assertThat(explanation(Optional.of(RECORDED)).isInOtherWords()).isFalse();
        assertThat(explanation(Optional.empty()).isInOtherWords()).isFalse();
    }

    private static boolean inNumbers(Map<String, Double> was, Map<String, Double> is) {
        Decision recorded = with(new Reason("demand", "a peak", was, List.of(1L)));
        Explanation.Made made = explanation(Optional.of(with(new Reason("demand", "a rise", is, List.of(1L)))))
                .made()
                .orElseThrow();
        return new Explanation(recorded, List.of(), List.of(), Optional.of(made), Optional.empty()).isInOtherWords();
    }

    private static Decision with(Reason reason) {
        return new Decision(
                RECORDED.id(), RECORDED.at(), RECORDED.deadline(), RECORDED.advisory(), reason, RECORDED.action());
    }

    private static Optional<Decision> because(String code, String text, List<Long> inputs) {
        return Optional.of(with(new Reason(code, text, Map.of(), inputs)));
    }

    @Test
    void aDecisionThatTheLogDoesNotGiveIsNotAsRecorded() {
        Explanation explanation = explanation(Optional.empty());

        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.differences()).containsExactly("the log gives no decision of this name");
    }

    @Test
    void nothingIsComparedWhereTheStepCannotBeMadeAgain() {
        Explanation explanation =
                new Explanation(RECORDED, List.of(), List.of(1L), Optional.empty(), Optional.of("the log is gone"));

        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.differences()).isEmpty();
    }
}
