package io.lendstream.core.history;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplainerTest {
    private final Scenario story = twoBorrowers();

    /** A job on one training GPU and one that has none of its own are lent the two GPUs that inference leaves. */
    private static Scenario twoBorrowers() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled()
                .job("bert", 2)
                .job("gpt", 1);
        for (int i = 0; i < 40 && story.count("lent") < 2; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            for (String job : List.of("bert", "gpt")) {
                if (story.job(job).gpus() > 0) {
                    story.progress(job, JobPhase.RUNNING).settled();
                }
            }
        }
        assertThat(story.count("lent")).isEqualTo(2);
        return story.rate("chat", 1).settled();
    }

    private Decision reclaim() {
        story.rate("chat", 15);
        return story.last().stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .findFirst()
                .orElseThrow();
    }

    private Explanation explain(Decision decision, List<DomainEvent> log) {
        Explainer explainer = new Explainer(decision);
        log.forEach(explainer::take);
        return explainer.explanation();
    }

    @Test
    void tellsOfAReclaimWhatItRestsOnWhatElseMightHaveGoneAndWhoHadTheGpuBefore() {
        Decision decision = reclaim();

        Explanation explanation = explain(decision, story.log());

        assertThat(explanation.isAsRecorded()).isTrue();
        assertThat(explanation.inputs()).extracting(DomainEvent::event).anyMatch(RequestRate.class::isInstance);
        Explanation.Made made = explanation.made().orElseThrow();
        List<Alternative> weighed = made.alternatives();
        assertThat(weighed).hasSize(2);
        assertThat(weighed.get(0).chosen()).isTrue();
        assertThat(weighed.get(0).gpus()).isEqualTo(decision.action().gpus());
        assertThat(weighed.get(1).chosen()).isFalse();
        assertThat(weighed.get(1).score()).isGreaterThanOrEqualTo(weighed.get(0).score());
        assertThat(made.needs().values()).anyMatch(need -> need.replicas() == 2);
        assertThat(made.owners()).singleElement().satisfies(change -> {
            assertThat(change.before().orElseThrow()).isInstanceOf(Owner.Lent.class);
            assertThat(change.after().orElseThrow()).isInstanceOf(Owner.Releasing.class);
        });
    }

    @Test
    void tellsOfALoanWhichSizesWereWeighedAndThatNoneDoesMoreForAllJobs() {
        Decision lend = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend action
                        && action.job().equals(new JobId("bert")))
                .findFirst()
                .orElseThrow();

        Explanation.Made made = explain(lend, story.log()).made().orElseThrow();

        assertThat(made.plannedBy()).isPresent();
        Alternative chosen = made.alternatives().stream()
                .filter(Alternative::chosen)
                .findFirst()
                .orElseThrow();
        assertThat(chosen.size()).isEqualTo(2);
        assertThat(made.alternatives()).extracting(Alternative::size).containsExactly(0, 1, 2);
        assertThat(made.alternatives())
                .allSatisfy(other -> assertThat(other.score()).isLessThanOrEqualTo(chosen.score()));
    }

    @Test
    void tellsWhichRulesWereBrokenWhenItHeld() {
        story.control(ControlCommand.Kind.FREEZE).rate("chat", 1).after(ofSeconds(60));
        Decision hold = story.last().get(0);

        Explanation.Made made = explain(hold, story.log()).made().orElseThrow();

        assertThat(hold.action()).isInstanceOf(Action.Hold.class);
        assertThat(made.guards())
                .filteredOn(guard -> guard.broken().isPresent())
                .anyMatch(guard -> guard.broken().orElseThrow().contains("frozen"));
        assertThat(made.mode().frozen()).isTrue();
    }

    @Test
    void seesThatARecordedDecisionIsNotTheOneThatTheLogGives() {
        Decision decision = reclaim();
        Reason other = new Reason(
                "demand",
                "on a whim",
                decision.reason().numbers(),
                decision.reason().inputs());
        Decision forged = new Decision(
                decision.id(), decision.at(), decision.deadline(), decision.advisory(), other, decision.action());

        Explanation explanation = explain(forged, story.log());

        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.differences())
                .singleElement()
                .satisfies(difference -> assertThat(difference)
                        .startsWith("reason is recorded as")
                        .contains("on a whim"));
    }

    @Test
    void doesNotReplayALogWhoseBeginningIsGoneButStillTellsWhatIsThere() {
        Decision decision = reclaim();
        List<DomainEvent> rest = story.log().subList(5, story.log().size());

        Explanation explanation = explain(decision, rest);

        assertThat(explanation.made()).isEmpty();
        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.obstacle()).contains("the log begins with event 6: earlier ones are no longer kept");
        assertThat(explanation.inputs()).isNotEmpty();
    }

    @Test
    void saysWhereTheLogEndsTooSoon() {
        Decision decision = reclaim();
        List<DomainEvent> log = story.log().subList(0, story.log().size() - 1);

        assertThat(explain(decision, log).obstacle())
                .contains("the log has no event " + story.log().size());
    }

    @Test
    void tellsHowLongADecisionTookAndByWhenItShouldHave() {
        Decision decision = reclaim();
        Instant applied = decision.at().plusMillis(4200);

        DecisionOutcome fate = DecisionOutcome.of(
                decision,
                List.of(
                        report(decision, Outcome.APPLIED, applied),
                        report(decision, Outcome.ACCEPTED, decision.at()),
                        report(decision, Outcome.ACCEPTED, decision.at())),
                applied);

        assertThat(fate.took()).contains(Duration.ofMillis(4200));
        assertThat(fate.reports()).hasSize(2);
        assertThat(fate.inWords()).isEqualTo("in force after 4.2 s, of 45.0 s that it had");
    }

    @Test
    void tellsOfADecisionThatNobodyAnswers() {
        Decision decision = reclaim();

        assertThat(DecisionOutcome.of(decision, List.of(), decision.at()).inWords())
                .startsWith("nobody has reported on it; it is due");
        assertThat(DecisionOutcome.of(decision, List.of(), decision.deadline().plusSeconds(1))
                        .inWords())
                .startsWith("nobody has reported on it; it was due");
    }

    private ActuationReport report(Decision decision, Outcome outcome, Instant at) {
        ActuationReport now = story.report(decision.id(), outcome, List.of(), Optional.empty());
        return new ActuationReport(
                now.domain(),
                now.decision(),
                now.actuator(),
                at,
                outcome,
                now.gpus(),
                now.tenant(),
                now.timings(),
                now.reason());
    }
}
