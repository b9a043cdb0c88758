package io.lendstream.core.history;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where exactly each rule begins to be broken, on histories whose every step is scripted. */
class HistoryRulesTest {
    private static final DecisionId DECISION = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Owner FREE = new Owner.Free();
    private static final Owner SERVING = new Owner.Serving(CHAT);
    private static final Optional<Tenant> REPLICA = Optional.of(new Tenant.Service(CHAT));
    private static final Optional<Tenant> JOB = Optional.of(new Tenant.Job(new JobId("a")));
    private static final Optional<Tenant> OTHER_JOB = Optional.of(new Tenant.Job(new JobId("b")));

    private static Owner lent(String job) {
        return new Owner.Lent(new JobId(job), DECISION, Scenario.START.plusSeconds(600));
    }

    private static Owner binding(Tenant tenant, Optional<Long> leaseSeconds) {
        return new Owner.Binding(
                tenant, DECISION, Scenario.START.plusSeconds(45), leaseSeconds.map(Scenario.START::plusSeconds), 1);
    }

    private static List<GpuId> gpus(String... units) {
        return Arrays.stream(units).map(GpuId::new).toList();
    }

    private static Action lend(Allocation allocation, String... units) {
        return new Action.Lend(new JobId("a"), gpus(units), Scenario.START.plusSeconds(600), allocation);
    }

    private static Action serve(boolean warm, String... units) {
        return new Action.Serve(CHAT, gpus(units), warm);
    }

    private static List<String> broken(ScriptedHistory history) {
        return history.verdict().violations().stream().map(Violation::toString).toList();
    }

    @Test
    void countsEventsDecisionsReportsLoansAndReclaims() {
        ScriptedHistory history = new ScriptedHistory().job("a", 1).gpu("infer-g0", Pool.INFERENCE, FREE);
        history.decides(lend(ScriptedHistory.allocation("infer-g0"), "infer-g0"));
        history.decides(
                new Action.Reclaim(new JobId("a"), gpus("infer-g0"), history.now(), ScriptedHistory.allocation()));
        history.decides(serve(false, "infer-g0"));
        history.decides(serve(true, "infer-g0"));
        history.tick().report(Outcome.ACCEPTED, REPLICA).report(Outcome.BOUND, REPLICA, "infer-g0");

        assertThat(history.verdict()).isEqualTo(new Verdict(4, 4, 2, 1, 1, List.of()));
    }

    @Test
    void countsReleasesByEndedJobsApartFromReclaims() {
        ScriptedHistory history = new ScriptedHistory().job("a", 1).gpu("infer-g0", Pool.INFERENCE, FREE);
        history.decides(lend(ScriptedHistory.allocation("infer-g0"), "infer-g0"));
        history.decides(
                ReasonCode.OVER,
                new Action.Reclaim(new JobId("a"), gpus("infer-g0"), history.now(), ScriptedHistory.allocation()));
        history.decides(
                ReasonCode.OVER, new Action.Resize(new JobId("a"), gpus("train-g0"), ScriptedHistory.allocation()));
        history.tick();

        Verdict verdict = history.verdict();

        assertThat(verdict.lends()).isEqualTo(1);
        assertThat(verdict.reclaims()).isZero();
        assertThat(verdict.releases()).isEqualTo(2);
    }

    @Test
    void judgesAStateWhenAnOwnerOrAJobChangesAndOnlyThen() {
        ScriptedHistory history = new ScriptedHistory();
        String wrong = "lend: train-g0 is lent, but is not inference's";

        history.job("a", 1, "train-g0")
                .gpu("train-g0", Pool.TRAINING, lent("a"))
                .tick();
        assertThat(broken(history)).containsExactly(wrong);

        history.tick();
        assertThat(broken(history)).containsExactly(wrong);

        history.gpu("train-g1", Pool.TRAINING, FREE).tick();
        assertThat(broken(history)).containsExactly(wrong, wrong);

        history.job("b", 1).tick();
        assertThat(broken(history)).containsExactly(wrong, wrong, wrong);
    }

    /** Two GPUs lent of four; beside them a replica that starts, MIG instances that are lent, and a training GPU. */
    private static ScriptedHistory halfLent() {
        return new ScriptedHistory(0.5)
                .gpu("infer-g0", Pool.INFERENCE, lent("a"))
                .gpu("infer-g1", Pool.INFERENCE, binding(JOB.orElseThrow(), Optional.of(600L)))
                .gpu("infer-g2", Pool.INFERENCE, SERVING)
                .gpu("infer-g3", Pool.INFERENCE, binding(REPLICA.orElseThrow(), Optional.empty()))
                .gpu("train-g0", Pool.TRAINING, FREE)
                .instance("cut-g0/0:4", lent("b"))
                .instance("cut-g0/4:4", lent("c"))
                .job("a", 2, "infer-g0", "infer-g1")
                .job("b", 1, "cut-g0/0:4")
                .job("c", 1, "cut-g0/4:4");
    }

    @Test
    void halfOfTheWholeInferenceGpusMayBeLentWhereTheShareIsAHalf() {
        ScriptedHistory history = halfLent();
        history.decides(lend(ScriptedHistory.allocation("infer-g0", "infer-g1"), "infer-g0", "infer-g1"));

        assertThat(broken(history.tick())).isEmpty();
    }

    @Test
    void oneLoanMoreThanTheShareAllowsBreaksTheCap() {
        ScriptedHistory history = halfLent()
                .owner("infer-g3", binding(JOB.orElseThrow(), Optional.of(600L)))
                .job("a", 3, "infer-g0", "infer-g1", "infer-g3");
        history.decides(lend(ScriptedHistory.allocation("infer-g0", "infer-g1", "infer-g3"), "infer-g3"));

        assertThat(broken(history.tick()))
                .containsExactly(
                        "cap: with decision test/1/1, 3 of 4 inference GPUs are lent, more than the share of 0.5");
    }

    /** Two replicas of a service whose floor is two, and a free GPU. */
    private static ScriptedHistory atTheFloor() {
        return new ScriptedHistory()
                .service("chat", 2)
                .gpu("infer-g0", Pool.INFERENCE, SERVING)
                .gpu("infer-g1", Pool.INFERENCE, SERVING)
                .tick();
    }

    private static final String UNDER_THE_FLOOR =
            "floor: service chat went from 2 to 1 replica at 2026-01-01T00:00:00Z, under its floor of 2";

    @Test
    void aServiceThatKeepsAReplicaMayStillBeUnderItsFloor() {
        ScriptedHistory history = atTheFloor().owner("infer-g1", FREE).tick();

        assertThat(broken(history)).containsExactly(UNDER_THE_FLOOR);
    }

    @Test
    void aServiceThatStaysUnderItsFloorBreaksItOnce() {
        ScriptedHistory history = new ScriptedHistory()
                .service("chat", 1)
                .gpu("infer-g0", Pool.INFERENCE, SERVING)
                .gpu("infer-g1", Pool.INFERENCE, FREE)
                .tick();

        history.owner("infer-g0", FREE).tick().owner("infer-g1", FREE).tick();

        assertThat(broken(history))
                .containsExactly("floor: service chat went from 1 to 0 replicas at 2026-01-01T00:00:00Z,"
                        + " under its floor of 1");
    }

    @Test
    void theFloorDoesNotCountForAServiceThatIsPlannedOntoInstances() {
        ScriptedHistory history = atTheFloor()
                .plannedOntoInstances("chat")
                .owner("infer-g1", FREE)
                .tick();

        assertThat(broken(history)).isEmpty();
    }

    @Test
    void theFloorDoesNotCountForAServiceWithAReplicaOnAnInstance() {
        ScriptedHistory history = new ScriptedHistory()
                .service("chat", 3)
                .gpu("infer-g0", Pool.INFERENCE, SERVING)
                .gpu("infer-g1", Pool.INFERENCE, SERVING)
                .instance("cut-g0/0:4", SERVING)
                .tick();

        history.owner("infer-g1", FREE).tick();

        assertThat(broken(history)).isEmpty();
    }

    @Test
    void theFloorIsNotBrokenByAReplicaThatEndedByItself() {
        for (Outcome outcome : List.of(Outcome.RELEASED, Outcome.FORCED)) {
            ScriptedHistory history = atTheFloor().owner("infer-g1", FREE).report(outcome, REPLICA, "infer-g1");

            assertThat(broken(history)).isEmpty();
        }
        ScriptedHistory noTenant =
                atTheFloor().owner("infer-g1", FREE).report(Outcome.HOLDS, Optional.empty(), "infer-g1");

        assertThat(broken(noTenant)).isEmpty();
    }

    @Test
    void aReportThatDoesNotEndTheReplicaIsNoExcuseForTakingIt() {
        ScriptedHistory applied = atTheFloor().owner("infer-g1", FREE).report(Outcome.APPLIED, REPLICA, "infer-g1");
        assertThat(broken(applied)).containsExactly(UNDER_THE_FLOOR);

        ScriptedHistory stillRuns = atTheFloor().owner("infer-g1", FREE).report(Outcome.HOLDS, REPLICA, "infer-g1");
        assertThat(broken(stillRuns)).containsExactly(UNDER_THE_FLOOR);

        ScriptedHistory another = atTheFloor().owner("infer-g1", FREE).report(Outcome.RELEASED, JOB, "infer-g1");
        assertThat(broken(another)).containsExactly(UNDER_THE_FLOOR);
    }

    @Test
    void theFloorIsNotBrokenByAGpuThatIsPutOutOfService() {
        ScriptedHistory history =
                atTheFloor().owner("infer-g1", new Owner.Quarantined("XID 79")).tick();

        assertThat(broken(history)).isEmpty();
    }

    @Test
    void aLoanOrAColdReplicaMayNotBeBoundWhereAnotherTenantStillRuns() {
        ScriptedHistory history = new ScriptedHistory()
                .gpu("infer-g0", Pool.INFERENCE, FREE)
                .gpu("infer-g1", Pool.INFERENCE, FREE)
                .report(Outcome.BOUND, OTHER_JOB, "infer-g0");
        history.decides(lend(ScriptedHistory.allocation("infer-g0"), "infer-g0"));
        history.decides(serve(false, "infer-g0"));
        history.decides(serve(true, "infer-g0"));
        history.decides(serve(false, "infer-g1"));

        assertThat(broken(history.tick()))
                .containsExactly(
                        "bind before release: decision test/1/1 binds infer-g0, where job b still runs",
                        "bind before release: decision test/1/2 binds infer-g0, where job b still runs");
    }

    @Test
    void aGpuMayBeBoundAgainOnceItsTenantIsGone() {
        for (Outcome gone : List.of(Outcome.RELEASED, Outcome.FORCED)) {
            ScriptedHistory history =
                    bound().report(gone, JOB, "infer-g0").report(Outcome.BOUND, OTHER_JOB, "infer-g0");

            assertThat(broken(history)).isEmpty();
        }
        ScriptedHistory noTenant = bound().report(Outcome.HOLDS, Optional.empty(), "infer-g0")
                .report(Outcome.BOUND, OTHER_JOB, "infer-g0");

        assertThat(broken(noTenant)).isEmpty();
    }

    @Test
    void noOtherReportSaysThatATenantIsGone() {
        for (Outcome outcome : List.of(Outcome.HOLDS, Outcome.APPLIED, Outcome.ACCEPTED, Outcome.FAILED)) {
            ScriptedHistory history =
                    bound().report(outcome, JOB, "infer-g0").report(Outcome.BOUND, OTHER_JOB, "infer-g0");

            assertThat(broken(history)).containsExactly(boundOver("infer-g0"));
        }
    }

    @Test
    void aReleaseThatALaterBindOvertookDoesNotCount() {
        ScriptedHistory overtaken = bound().after(ofSeconds(-1))
                .report(Outcome.RELEASED, JOB, "infer-g0")
                .after(ofSeconds(1))
                .report(Outcome.BOUND, OTHER_JOB, "infer-g0");

        assertThat(broken(overtaken)).containsExactly(boundOver("infer-g0"));
    }

    @Test
    void nothingRunsOnAGpuThatWasResetButOtherCommandsEndNothing() {
        ScriptedHistory reset =
                bound().command(ControlCommand.Kind.RESET, "infer-g0").report(Outcome.BOUND, OTHER_JOB, "infer-g0");
        assertThat(broken(reset)).isEmpty();

        ScriptedHistory frozen =
                bound().command(ControlCommand.Kind.FREEZE, "infer-g0").report(Outcome.BOUND, OTHER_JOB, "infer-g0");
        assertThat(broken(frozen)).containsExactly(boundOver("infer-g0"));
    }

    private static ScriptedHistory bound() {
        return new ScriptedHistory().gpu("infer-g0", Pool.INFERENCE, FREE).report(Outcome.BOUND, JOB, "infer-g0");
    }

    /** A job runs on two MIG instances, each of another node, and on a whole GPU. */
    private static ScriptedHistory runningOnInstances() {
        return new ScriptedHistory()
                .gpu("infer-g0", Pool.INFERENCE, FREE)
                .instance("cut-g0/0:4", FREE)
                .instance("other-g0/0:4", FREE)
                .report(Outcome.BOUND, JOB, "infer-g0", "cut-g0/0:4", "other-g0/0:4");
    }

    private static String boundOver(String unit) {
        return "bind before release: %s was bound to job b at 2026-01-01T00:00:00Z while job a ran on it"
                .formatted(unit);
    }

    @Test
    void nothingRunsOnAnInstanceThatItsNodeNoLongerReports() {
        ScriptedHistory history = runningOnInstances()
                .inventory("cut", ScriptedHistory.cut("cut-g0", "cut-g0/4:4"))
                .report(Outcome.BOUND, OTHER_JOB, "cut-g0/0:4");

        assertThat(broken(history)).isEmpty();
    }

    @Test
    void anInventoryDoesNotEndWhatRunsOnAnInstanceThatIsStillThere() {
        ScriptedHistory history = runningOnInstances()
                .inventory("cut", ScriptedHistory.cut("cut-g0", "cut-g0/0:4", "cut-g0/4:4"))
                .report(Outcome.BOUND, OTHER_JOB, "cut-g0/0:4");

        assertThat(broken(history)).containsExactly(boundOver("cut-g0/0:4"));
    }

    @Test
    void anInventoryDoesNotEndWhatRunsOnOtherGpus() {
        ScriptedHistory history = runningOnInstances()
                .inventory("cut", ScriptedHistory.cut("cut-g0"))
                .report(Outcome.BOUND, OTHER_JOB, "infer-g0", "other-g0/0:4");

        assertThat(broken(history)).containsExactly(boundOver("infer-g0"), boundOver("other-g0/0:4"));
    }

    @Test
    void aDecisionMayNotGiveAJobFewerGpusThanItRunsOn() {
        ScriptedHistory history = new ScriptedHistory().job("a", 2).gpu("infer-g0", Pool.INFERENCE, FREE);
        Decision decision = history.decides(lend(ScriptedHistory.allocation("infer-g0"), "infer-g0"));

        assertThat(broken(history.tick()))
                .containsExactly(
                        "gang: decision test/1/1 gives a job 1 GPU that runs on 2 or more: " + decision.action());
    }

    private static final String UNANSWERED =
            "answer: decision test/1/1 (serve) was due at 2026-01-01T00:00:45Z and no actuator reported on it";

    /** A replica is to start; the decision is due after 45 s, and an answer 60 s later at most. */
    private static ScriptedHistory starting() {
        ScriptedHistory history = new ScriptedHistory().gpu("infer-g0", Pool.INFERENCE, FREE);
        history.decides(serve(false, "infer-g0"));
        return history.tick();
    }

    @Test
    void aDecisionIsUnansweredOnceItIsOverdueByMoreThanAMinute() {
        assertThat(broken(starting().after(ofSeconds(105)).tick())).isEmpty();
        assertThat(broken(starting().after(ofSeconds(105).plus(ofMillis(1))).tick()))
                .containsExactly(UNANSWERED);
    }

    @Test
    void anyReportOnADecisionAnswersItButTakingStockDoesNot() {
        ScriptedHistory answered =
                starting().report(Outcome.REJECTED, REPLICA).after(ofMinutes(5)).tick();
        assertThat(broken(answered)).isEmpty();

        ScriptedHistory stock = starting()
                .report(Outcome.HOLDS, Optional.empty(), "infer-g0")
                .after(ofMinutes(5))
                .tick();
        assertThat(broken(stock)).containsExactly(UNANSWERED);
    }

    @Test
    void noAnswerIsOwedToAdviceOrToAHold() {
        ScriptedHistory history = new ScriptedHistory().gpu("infer-g0", Pool.INFERENCE, FREE);
        history.decides(serve(false, "infer-g0"), true);
        history.decides(new Action.Hold(Optional.empty(), Optional.of(CHAT)));

        assertThat(broken(history.tick().after(ofMinutes(5)).tick())).isEmpty();
    }

    @Test
    void noAnswerIsOwedToADecisionOfAStepThatPutAGpuOutOfService() {
        ScriptedHistory history =
                new ScriptedHistory().gpu("infer-g0", Pool.INFERENCE, new Owner.Quarantined("XID 79"));
        history.decides(serve(false, "infer-g0"));

        assertThat(broken(history.tick().after(ofMinutes(5)).tick())).isEmpty();
    }

    @Test
    void noticesAChangedEventInALogOfThousands() {
        ScriptedHistory history = new ScriptedHistory();
        for (int i = 0; i < 3000; i++) {
            history.tick();
        }
        assertThat(history.repeat(1024).repeat(3001).verdict()).isEqualTo(new Verdict(3001, 0, 0, 0, 0, List.of()));

        assertThat(broken(history.repeatChanged(1024).repeatChanged(3001)))
                .containsExactly(
                        "log: event 1024 was written twice, with different contents",
                        "log: event 3001 was written twice, with different contents");
    }
}
