package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Rules that a log, or other published records, can break; {@link FaultySchedulerTest} has those that take a faulty
 * scheduler.
 */
class HistoryCheckerTest {
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 1)
            .node("infer", Pool.INFERENCE, 2)
            .service("chat", 1)
            .settled();

    private List<String> rules(List<DomainEvent> log, List<Decision> decisions, List<Lease> leases) {
        return HistoryChecker.check(DOMAIN, log, decisions, leases).violations().stream()
                .map(Violation::rule)
                .distinct()
                .toList();
    }

    private List<Lease> leases() {
        return story.state().gpus().stream()
                .map(gpu -> gpu.lease(DOMAIN, story.state().epoch()))
                .toList();
    }

    @Test
    void isContentWithAnHonestHistory() {
        assertThat(rules(story.log(), story.decisions(), leases())).isEmpty();
    }

    @Test
    @Breaks("log")
    void missesAnEvent() {
        List<DomainEvent> log = new ArrayList<>(story.log());
        log.remove(2);

        assertThat(rules(log, story.decisions(), leases())).contains("log");
    }

    @Test
    void namesTheEventsAroundAGapInTheLog() {
        List<DomainEvent> log = new ArrayList<>(story.log());
        log.remove(2);

        assertThat(HistoryChecker.check(DOMAIN, log, List.of(), List.of()).violations())
                .contains(new Violation("log", "event 4 follows event 2"));
    }

    @Test
    void stopsAtALogThatBeginsBeforeAnySchedulerStarted() {
        List<DomainEvent> log = List.of(
                new DomainEvent(DOMAIN, 1, 1, story.now(), Optional.empty(), new Tick(DOMAIN, story.now())),
                story.log().get(0),
                story.log().get(1));

        assertThat(HistoryChecker.check(DOMAIN, log, List.of(), List.of()))
                .isEqualTo(new Verdict(
                        0, 0, 0, 0, 0, List.of(new Violation("log", "event 1 comes before any scheduler started"))));
    }

    @Test
    void acceptsTheLastEventTwice() {
        List<DomainEvent> log = new ArrayList<>(story.log());
        log.add(log.get(log.size() - 1));

        assertThat(rules(log, story.decisions(), leases())).isEmpty();
    }

    @Test
    void acceptsAnEventThatWasWrittenTwiceButNotOneThatWasChanged() {
        List<DomainEvent> log = new ArrayList<>(story.log());
        DomainEvent third = log.get(2);
        log.add(third);
        assertThat(rules(log, story.decisions(), leases())).isEmpty();

        log.add(new DomainEvent(
                DOMAIN, third.epoch(), third.sequence(), third.at(), Optional.empty(), new Tick(DOMAIN, third.at())));
        assertThat(rules(log, story.decisions(), leases())).containsExactly("log");
    }

    @Test
    @Breaks("reports")
    void missesAReportThatTheLogDoesNotHave() {
        HistoryChecker checker = new HistoryChecker(DOMAIN);
        story.log().forEach(checker::take);
        List<ActuationReport> inLog = story.log().stream()
                .map(DomainEvent::event)
                .filter(ActuationReport.class::isInstance)
                .map(ActuationReport.class::cast)
                .toList();
        inLog.forEach(checker::heard);
        ActuationReport known = inLog.get(0);
        checker.heard(new ActuationReport(
                known.domain(),
                known.decision(),
                known.actuator(),
                known.at().plusSeconds(1),
                known.outcome(),
                known.gpus(),
                known.tenant(),
                known.timings(),
                known.reason()));

        Verdict verdict = checker.verdict(story.decisions(), leases());

        assertThat(verdict.violations()).extracting(Violation::rule).containsExactly("reports");
    }

    /** The report that an actuator took up the first decision, so many seconds from now. */
    private ActuationReport takenUp(int seconds) {
        ActuationReport now =
                story.report(story.decisions().get(0).id(), Outcome.ACCEPTED, List.of(), Optional.empty());
        return new ActuationReport(
                now.domain(),
                now.decision(),
                now.actuator(),
                now.at().plusSeconds(seconds),
                now.outcome(),
                now.gpus(),
                now.tenant(),
                now.timings(),
                now.reason());
    }

    @Test
    void aDecisionIsTakenUpTwiceThoughOneOfTheReportsIsNotInTheLog() {
        story.tell(takenUp(0));
        HistoryChecker checker = new HistoryChecker(DOMAIN);
        story.log().forEach(checker::take);

        checker.heard(takenUp(1));

        assertThat(checker.verdict(story.decisions(), leases()).violations())
                .containsExactly(
                        new Violation(
                                "applied twice",
                                "decision test/1/1 was taken up by test at 2026-01-01T00:00:00Z"
                                        + " and again at 2026-01-01T00:00:01Z"),
                        new Violation(
                                "reports",
                                "the report ACCEPTED on test/1/1 of 2026-01-01T00:00:01Z is not in the log"));
    }

    @Test
    void listsAtMostTwentyViolationsOfARule() {
        HistoryChecker checker = new HistoryChecker(DOMAIN);
        story.log().forEach(checker::take);
        for (int i = 1; i <= 20; i++) {
            checker.heard(story.report(
                    story.decisions().get(0).id(), Outcome.FAILED, List.of(new GpuId("gpu-" + i)), Optional.empty()));
        }
        assertThat(checker.verdict(story.decisions(), leases()).violations()).hasSize(20);

        checker.heard(story.report(story.decisions().get(0).id(), Outcome.TIMED_OUT, List.of(), Optional.empty()));

        assertThat(checker.verdict(story.decisions(), leases()).violations())
                .hasSize(20)
                .extracting(Violation::rule)
                .containsOnly("reports");
    }

    @Test
    @Breaks("replay")
    void missesADecisionThatTheLogGives() {
        assertThat(rules(story.log(), List.of(), leases())).containsExactly("replay");
    }

    @Test
    void noticesADecisionThatTheLogDoesNotGive() {
        List<Decision> decisions = new ArrayList<>(story.decisions());
        Decision first = decisions.get(0);
        decisions.set(
                0,
                new Decision(
                        first.id(),
                        first.at().plusSeconds(1),
                        first.deadline(),
                        false,
                        first.reason(),
                        first.action()));

        assertThat(rules(story.log(), decisions, leases())).containsExactly("replay");
    }

    @Test
    void namesTheFirstDecisionThatTheLogDoesNotGive() {
        assertThat(HistoryChecker.check(DOMAIN, story.log(), List.of(), leases())
                        .violations())
                .singleElement()
                .satisfies(violation -> assertThat(violation.text())
                        .startsWith("decision 1 was published as Optional.empty, but the log gives "));
    }

    @Test
    void acceptsADecisionThatWasPublishedTwiceButNotOneThatWasChanged() {
        Decision first = story.decisions().get(0);
        List<Decision> decisions = new ArrayList<>(story.decisions());
        decisions.add(first);
        assertThat(rules(story.log(), decisions, leases())).isEmpty();

        decisions.add(new Decision(
                first.id(), first.at(), first.deadline().plusSeconds(1), false, first.reason(), first.action()));
        assertThat(HistoryChecker.check(DOMAIN, story.log(), decisions, leases())
                        .violations())
                .containsExactly(
                        new Violation("replay", "decision test/1/1 was published twice, with different contents"));
    }

    @Test
    @Breaks("leases")
    void noticesALeaseThatTheLogDoesNotGive() {
        List<Lease> leases = new ArrayList<>(leases());
        leases.add(new Lease(
                new GpuId("infer-g0"),
                new NodeId("infer"),
                DOMAIN,
                Pool.INFERENCE,
                new Owner.Lent(new JobId("a"), story.decisions().get(0).id(), story.now()),
                1,
                1,
                story.now(),
                Optional.empty()));

        assertThat(rules(story.log(), story.decisions(), leases)).containsExactly("leases");
    }

    @Test
    @Breaks("bind before release")
    void noticesABindOnAGpuThatStillRunsAnother() {
        story.tell(story.report(
                story.decisions().get(0).id(),
                Outcome.BOUND,
                List.of(new GpuId("infer-g0")),
                Optional.of(new Tenant.Job(new JobId("intruder")))));

        assertThat(rules(story.log(), story.decisions(), leases())).contains("bind before release");
    }

    @Test
    @Breaks("applied twice")
    void noticesADecisionThatWasTakenUpTwice() {
        Decision decision = story.decisions().get(0);
        ActuationReport accepted = story.report(decision.id(), Outcome.ACCEPTED, List.of(), Optional.empty());
        story.tell(accepted).tell(accepted);
        assertThat(rules(story.log(), story.decisions(), leases())).isEmpty();

        story.after(ofSeconds(1)).tell(story.report(decision.id(), Outcome.ACCEPTED, List.of(), Optional.empty()));

        assertThat(rules(story.log(), story.decisions(), leases())).containsExactly("applied twice");
    }

    @Test
    @Breaks("fence")
    void noticesADecisionThatWasTakenUpAfterALaterOne() {
        DecisionId first = story.decisions().get(0).id();
        DecisionId ofTheNextEpoch = new DecisionId(DOMAIN, first.epoch() + 1, first.sequence());
        story.tell(story.report(ofTheNextEpoch, Outcome.ACCEPTED, List.of(), Optional.empty()));

        story.after(ofSeconds(1)).tell(story.report(first, Outcome.ACCEPTED, List.of(), Optional.empty()));

        assertThat(rules(story.log(), story.decisions(), leases())).containsExactly("fence");
    }

    @Test
    @Breaks("epoch")
    void noticesAnEpochThatIsUsedAgain() {
        story.tell(story.log().get(0).event());

        assertThat(rules(story.log(), story.decisions(), leases())).containsExactly("epoch");
    }

    @Test
    @Breaks("answer")
    void noticesADecisionWithoutAnAnswer() {
        story.job("a", 1);
        for (int i = 0; i < 16; i++) {
            story.after(ofSeconds(15)).rate("chat", 1);
        }
        story.after(ofMinutes(5));

        assertThat(rules(story.log(), story.decisions(), leases())).contains("answer");
    }
}
