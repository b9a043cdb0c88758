package io.lendstream.core.actuation;

import static io.lendstream.core.event.Outcome.ACCEPTED;
import static io.lendstream.core.event.Outcome.APPLIED;
import static io.lendstream.core.event.Outcome.BOUND;
import static io.lendstream.core.event.Outcome.FAILED;
import static io.lendstream.core.event.Outcome.FORCED;
import static io.lendstream.core.event.Outcome.HOLDS;
import static io.lendstream.core.event.Outcome.REJECTED;
import static io.lendstream.core.event.Outcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.simulated.DelayModel;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDelays.FailureRates;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * An actuator of GPUs t1..t4 (training) and i1..i4 (inference); a release takes 2 s, a bind 3 s, a first start 20 s.
 */
class ActuationTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final JobId JOB = new JobId("job");
    private static final JobId OTHER = new JobId("other");
    private static final ServiceId SERVICE = new ServiceId("chat");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration NOTICE = Duration.ofSeconds(45);
    private static final SimulatedDelays DELAYS = SimulatedDelays.realistic();

    private final List<String> log = new ArrayList<>();
    private Actuation actuation = actuation(DELAYS);
    private long sequence;

    @Test
    void bindsTheGpusThatAJobGainsAndReportsTheJobInForceAfterItsRescaleCosts() {
        take(0, resize(JOB, List.of("t1", "t2"), "t1", "t2"));
        advance(60);

        assertThat(log).containsExactly("0 d/1/1 ACCEPTED t1,t2", "3 d/1/1 BOUND t1,t2", "20 d/1/1 APPLIED t1,t2");
    }

    @Test
    void aJobThatGrowsInPlaceIsInForceSoonerThanOneThatStarts() {
        running(JOB, "t1", "t2");

        take(100, resize(JOB, List.of("t3", "t4"), "t1", "t2", "t3", "t4"));
        advance(200);

        assertThat(log)
                .containsExactly("100 d/1/2 ACCEPTED t3,t4", "103 d/1/2 BOUND t3,t4", "111 d/1/2 APPLIED t1,t2,t3,t4");
    }

    @Test
    void releasesWhatTheNewAllocationDoesNotNameOneStepAfterASecond() {
        running(JOB, "t1", "t2");

        take(100, resize(JOB, List.of("t2"), "t1"));
        advance(200);

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED t2", "101.5 d/1/2 RELEASED t2", "102 d/1/2 APPLIED t1");
    }

    @Test
    void aRestartLeavesItsGpusAfterACheckpoint() {
        running(JOB, "t1", "t2");

        take(100, new Action.Resize(JOB, gpus("t2"), allocation(Mechanism.RESTART, "t1")));
        advance(200);

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED t2", "104 d/1/2 RELEASED t2", "120 d/1/2 APPLIED t1");
    }

    @Test
    void aSuspendedJobIsInForceOnceItHasLeft() {
        running(JOB, "t1");

        take(100, new Action.Resize(JOB, gpus("t1"), Allocation.suspended(Mechanism.AFE)));
        advance(200);

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED t1", "101.5 d/1/2 RELEASED t1", "101.5 d/1/2 APPLIED -");
    }

    @Test
    void aChangeOfTheBatchAloneIsInForceAtOnce() {
        running(JOB, "t1");

        take(100, resize(JOB, List.of(), "t1"));

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED -", "100 d/1/2 APPLIED t1");
    }

    @Test
    void aReplicaServesAfterItsWarmUp() {
        take(0, new Action.Serve(SERVICE, gpus("i1"), false));
        advance(60);

        assertThat(log).containsExactly("0 d/1/1 ACCEPTED i1", "6 d/1/1 BOUND i1", "6 d/1/1 APPLIED i1");
    }

    @Test
    void aWarmReplicaServesAtOnce() {
        serving("i1");

        take(100, new Action.Serve(SERVICE, gpus("i1"), true));

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED i1", "100 d/1/2 APPLIED i1");
    }

    @Test
    void servicesWithANewBatchingGoOnServing() {
        take(0, new Action.Serve(SERVICE, gpus("i1"), false));
        advance(90);
        log.clear();

        take(
                100,
                new Action.Batching(SERVICE, gpus("i1"), Optional.empty(), List.of(new Bucket(1, 14, Duration.ZERO))));

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED i1", "100 d/1/2 APPLIED i1");
    }

    @Test
    void aReplicaThatIsNotThereCannotServeWarm() {
        take(0, new Action.Serve(SERVICE, gpus("i1"), true));

        assertThat(log)
                .containsExactly("0 d/1/1 REJECTED i1 (i1 has no warm replica of service chat: it has no tenant)");
    }

    @Test
    void anIdleReplicaIsGoneAfterAShortDrain() {
        serving("i1");

        take(100, new Action.Idle(SERVICE, gpus("i1"), at(130)));
        advance(200);

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED i1", "102 d/1/2 RELEASED i1", "102 d/1/2 APPLIED i1");
    }

    @Test
    void aLoanReturnsByItselfWhenItsLeaseRunsOut() {
        running(JOB, "t1");
        take(100, lend(JOB, 400, List.of("i1"), "t1", "i1"));
        advance(399);
        log.clear();

        advance(1000);

        assertThat(log).containsExactly("401.3 d/1/2 RELEASED i1 (lease ran out at 2026-01-01T12:06:40Z)");
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactly(new GpuId("t1"));
    }

    @Test
    void aRenewedLoanReturnsAtItsNewEnd() {
        take(0, lend(JOB, 400, List.of("i1"), "i1"));
        advance(399);
        take(400, new Action.Renew(gpus("i1"), at(800)));
        advance(799);
        log.clear();

        advance(900);

        assertThat(log).containsExactly("801.5 d/1/1 RELEASED i1 (lease ran out at 2026-01-01T12:13:20Z)");
    }

    @Test
    void aRenewalUntilAnEarlierTimeDoesNotShortenALease() {
        take(0, lend(JOB, 400, List.of("i1"), "i1"));
        advance(100);

        take(101, new Action.Renew(gpus("i1"), at(200)));
        advance(399);

        assertThat(log).noneMatch(line -> line.contains("RELEASED"));
        assertThat(actuation.holdings())
                .singleElement()
                .satisfies(holding ->
                        assertThat(holding.loan().orElseThrow().until()).isEqualTo(at(400)));
    }

    @Test
    void aLoanThatIsOnItsWayBackCannotBeRenewed() {
        take(0, lend(JOB, 400, List.of("i1"), "i1"));
        advance(400);
        log.clear();

        take(401, new Action.Renew(gpus("i1"), at(800)));

        assertThat(log).containsExactly("401 d/1/2 REJECTED i1 (no loan to renew: job job is still leaving it)");
    }

    @Test
    void aReclaimReleasesAndTheJobGoesOnWithTheRest() {
        running(JOB, "t1");
        take(100, lend(JOB, 900, List.of("i1", "i2"), "t1", "i1", "i2"));
        advance(200);
        log.clear();

        take(300, reclaim(JOB, 345, List.of("i2"), "t1", "i1"));
        advance(400);

        assertThat(log).containsExactly("300 d/1/3 ACCEPTED i2", "301.5 d/1/3 RELEASED i2", "302 d/1/3 APPLIED i1,t1");
    }

    @Test
    void aReclaimGivesTheJobTheTrainingGpusOfItsNewAllocation() {
        take(0, lend(JOB, 900, List.of("i1"), "i1"));
        advance(99);
        log.clear();

        take(100, reclaim(JOB, 145, List.of("i1"), "t1"));
        advance(200);

        assertThat(log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED i1,t1",
                        "101.5 d/1/2 RELEASED i1",
                        "104.5 d/1/2 BOUND t1",
                        "120 d/1/2 APPLIED t1");
    }

    @Test
    void aReclaimIsCarriedOutEvenWhereTheJobCannotHaveAllOfItsNewAllocation() {
        running(OTHER, "t1");
        take(100, lend(JOB, 900, List.of("i1"), "i1"));
        advance(199);
        log.clear();

        take(200, reclaim(JOB, 245, List.of("i1"), "t1"));
        advance(300);

        assertThat(log).hasSize(3).element(1).isEqualTo("201.5 d/1/3 RELEASED i1");
    }

    @Test
    void whatHasNotLeftAtTheDeadlineIsForced() {
        actuation = actuation(DELAYS.withFailures(new FailureRates(1, 0, 0), 7));
        running(JOB, "t1", "t2");

        take(100, reclaim(JOB, 145, List.of("t2"), "t1"));
        advance(300);

        assertThat(log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED t2",
                        "145 d/1/2 FORCED t2 (still there at the deadline)",
                        "145 d/1/2 APPLIED t1");
    }

    @Test
    void aReleaseThatTakesLongerThanItsDeadlineIsForced() {
        running(JOB, "t1");

        take(100, reclaim(JOB, 101, List.of("t1")));
        advance(300);

        assertThat(log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED t1",
                        "101 d/1/2 FORCED t1 (still there at the deadline)",
                        "101 d/1/2 APPLIED -");
    }

    @Test
    void aBindThatFailsLeavesTheGpusFree() {
        running(JOB, "t1");
        actuation = Actuation.restore(
                "a",
                NOTICE,
                new SimulatedDriver(DELAYS.withFailures(new FailureRates(0, 1, 0), 7)),
                actuation.snapshot());
        tell(actuation);

        take(100, resize(JOB, List.of("t2"), "t1", "t2"));
        advance(300);

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED t2", "103 d/1/2 FAILED t2 (did not come up)");
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactly(new GpuId("t1"));
    }

    @Test
    void silenceChangesHandsWithoutAReport() {
        actuation = actuation(DELAYS.withFailures(new FailureRates(0, 0, 1), 7));

        take(0, resize(JOB, List.of("t1"), "t1"));
        advance(100);

        assertThat(log).containsExactly("0 d/1/1 ACCEPTED t1");
        assertThat(actuation.holdings()).extracting(Holding::phase).containsExactly(Holding.Phase.BOUND);
    }

    @Test
    void aDecisionSeenBeforeIsRefusedAndCounted() {
        Decision decision = decision(1, 5, false, 0, resize(JOB, List.of("t1"), "t1"));
        record(actuation.take(decision, at(0)));
        log.clear();

        record(actuation.take(decision, at(1)));
        record(actuation.take(decision(1, 4, false, 1, resize(OTHER, List.of("t2"), "t2")), at(1)));

        assertThat(log)
                .containsExactly(
                        "1 d/1/5 REJECTED t1 (seen before: the last decision of this epoch was d/1/5)",
                        "1 d/1/4 REJECTED t2 (seen before: the last decision of this epoch was d/1/5)");
        assertThat(actuation.refusals()).isEqualTo(Map.of(Refusal.SEEN_BEFORE, 2L));
    }

    @Test
    void aDecisionOfAnOldEpochIsRefusedWhateverItsSequence() {
        record(actuation.take(decision(2, 5, false, 0, resize(JOB, List.of("t1"), "t1")), at(0)));
        log.clear();

        record(actuation.take(decision(1, 9, false, 1, resize(OTHER, List.of("t2"), "t2")), at(1)));

        assertThat(log).containsExactly("1 d/1/9 REJECTED t2 (epoch 1 is over: d/2/5 has been decided since)");
        assertThat(actuation.refusals()).isEqualTo(Map.of(Refusal.OLD_EPOCH, 1L));
    }

    @Test
    void eachDomainIsFencedByItself() {
        record(actuation.take(decision(2, 5, false, 0, resize(JOB, List.of("t1"), "t1")), at(0)));
        log.clear();
        DomainId other = new DomainId("e");
        Gpu gpu = Gpu.whole(new GpuId("e1"), 0, "A100", 80L << 30);
        actuation.know(new Node(new NodeId("n3"), other, Pool.TRAINING, "boot", NOON, NodeStatus.READY, List.of(gpu)));
        var elsewhere = new Decision(
                new DecisionId(other, 1, 1), at(1), at(61), false, reason(), resize(OTHER, List.of("e1"), "e1"));

        record(actuation.take(elsewhere, at(1)));

        assertThat(log).containsExactly("1 e/1/1 ACCEPTED e1");
    }

    @Test
    void adviceIsRefusedWhateverItSays() {
        record(actuation.take(decision(1, 1, true, 0, resize(JOB, List.of("t1"), "t1")), at(0)));
        record(actuation.take(decision(1, 2, true, 0, new Action.Serve(SERVICE, gpus("i1"), false)), at(0)));
        advance(100);

        assertThat(log).hasSize(2).allMatch(line -> line.contains("REJECTED") && line.contains("advisory"));
        assertThat(actuation.holdings()).isEmpty();
    }

    @Test
    void noGpuIsBoundWhileATenantHasIt() {
        running(JOB, "t1", "t2");

        take(100, resize(OTHER, List.of("t2", "t3"), "t2", "t3"));
        advance(200);

        assertThat(log)
                .containsExactly("100 d/1/2 REJECTED t2,t3 (t2 cannot be bound: job job has it, and its release has not"
                        + " been asked for)");
    }

    @Test
    void nothingIsBoundWhoseReleaseHasNotBeenReported() {
        running(JOB, "t1", "t2");
        take(100, resize(JOB, List.of("t2"), "t1"));
        log.clear();

        take(101, resize(OTHER, List.of("t2"), "t2"));
        take(102, resize(OTHER, List.of("t2"), "t2"));

        assertThat(log)
                .containsExactly(
                        "101 d/1/3 REJECTED t2 (t2 cannot be bound: job job is still leaving it)",
                        "101.5 d/1/2 RELEASED t2",
                        "102 d/1/2 APPLIED t1",
                        "102 d/1/4 ACCEPTED t2");
    }

    @Test
    void reportsTheTenantsOfAllGpusButThoseInTransfer() {
        serving("i1");
        take(100, resize(JOB, List.of("t1", "t2"), "t1", "t2"));
        advance(120);
        take(130, resize(JOB, List.of("t2"), "t1"));
        log.clear();

        record(actuation.stock());

        assertThat(log).containsExactly("130 d/1/3 HOLDS i1", "130 d/1/3 HOLDS i2,i3,i4,t3,t4", "130 d/1/3 HOLDS t1");
        assertThat(actuation.stock())
                .extracting(report -> report.tenant().map(Tenant::toString).orElse("none"))
                .containsExactly("service chat", "none", "job job");
    }

    @Test
    void nothingIsBoundOnANodeThatIsNotKnown() {
        take(0, resize(JOB, List.of("x9"), "x9"));

        assertThat(log).containsExactly("0 d/1/1 REJECTED x9 (x9 cannot be bound: no known node has it)");
    }

    @Test
    void aJobGetsInferenceGpusOnlyOnLoan() {
        take(0, resize(JOB, List.of("i1"), "i1"));

        assertThat(log).containsExactly("0 d/1/1 REJECTED i1 (i1 is an inference GPU: a job gets it only on loan)");
    }

    @Test
    void aGpuWhoseLeaseHasJustRunOutIsNotBoundAgainByAnAllocationThatStillNamesIt() {
        running(JOB, "t1");
        take(100, lend(JOB, 400, List.of("i1"), "t1", "i1"));
        advance(402);
        log.clear();

        take(403, resize(JOB, List.of("t2"), "t1", "t2", "i1"));
        advance(500);

        assertThat(log)
                .containsExactly(
                        "403 d/1/3 ACCEPTED t2 (goes on without i1: it has no tenant)",
                        "406 d/1/3 BOUND t2",
                        "414 d/1/3 APPLIED t1,t2 (goes on without i1: it has no tenant)");
    }

    @Test
    void aReclaimOfGpusThatAreComingBackAlreadyIsReportedUnderTheReclaim() {
        running(JOB, "t1");
        take(100, lend(JOB, 400, List.of("i1"), "t1", "i1"));
        advance(400.5);
        log.clear();

        take(401, reclaim(JOB, 446, List.of("i1"), "t1"));
        advance(500);

        assertThat(log)
                .containsExactly(
                        "401 d/1/3 ACCEPTED i1",
                        "401 d/1/3 APPLIED t1",
                        "401.3 d/1/3 RELEASED i1 (lease ran out at 2026-01-01T12:06:40Z; first asked for by d/1/2)");
    }

    @Test
    void aReclaimOfFreeGpusIsConfirmedSoThatTheSchedulerCanGoOn() {
        take(0, reclaim(JOB, 45, List.of("i1")));

        assertThat(log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED i1", "0 d/1/1 RELEASED i1 (nothing ran there any more)", "0 d/1/1 APPLIED -");
    }

    @Test
    void whatAnotherTenantHasIsNotReleased() {
        running(JOB, "t1");

        take(100, reclaim(OTHER, 145, List.of("t1")));
        advance(200);

        assertThat(log)
                .containsExactly("100 d/1/2 REJECTED t1 (t1 is not job other's: job job has it, and its release has not"
                        + " been asked for)");
    }

    @Test
    void aChangeBeforeTheLastOneIsInForceSupersedesIt() {
        take(0, resize(JOB, List.of("t1", "t2"), "t1", "t2"));
        take(1, resize(JOB, List.of("t2"), "t1"));
        advance(60);

        assertThat(log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1,t2",
                        "1 d/1/2 ACCEPTED t2",
                        "2.5 d/1/2 RELEASED t2",
                        "3 d/1/1 BOUND t1",
                        "20 d/1/1 APPLIED t1 (without t2; superseded by d/1/2)",
                        "20 d/1/2 APPLIED t1");
    }

    @Test
    void aHoldIsTakenWithoutAReport() {
        take(0, new Action.Hold(Optional.of(JOB), Optional.empty()));

        assertThat(log).isEmpty();
        assertThat(actuation.latest(DOMAIN)).contains(new DecisionId(DOMAIN, 1, 1));
    }

    @Test
    void aLeaseThatIsOverIsNotBegun() {
        take(500, lend(JOB, 400, List.of("i1"), "i1"));

        assertThat(log).singleElement().asString().contains("REJECTED i1 (the lease until");
    }

    @Test
    void afterARestartItGoesOnWhereItStopped() {
        running(JOB, "t1");
        take(100, lend(JOB, 400, List.of("i1"), "t1", "i1"));
        var twin = Actuation.restore("a", NOTICE, new SimulatedDriver(DELAYS), actuation.snapshot());
        tell(twin);

        assertThat(twin.nextEventAt()).isEqualTo(actuation.nextEventAt()).contains(at(103));
        assertThat(twin.advance(at(1000)))
                .isEqualTo(actuation.advance(at(1000)))
                .hasSize(3);
        assertThat(twin.snapshot()).isEqualTo(actuation.snapshot());
    }

    @Test
    void aLateCallDoesNotTurnTimeBack() {
        take(100, resize(JOB, List.of("t1"), "t1"));
        log.clear();

        take(50, resize(OTHER, List.of("t2"), "t2"));

        assertThat(log).containsExactly("100 d/1/2 ACCEPTED t2");
    }

    private void running(JobId job, String... gpus) {
        take(0, resize(job, List.of(gpus), gpus));
        advance(99);
        log.clear();
    }

    private void serving(String... gpus) {
        take(0, new Action.Serve(SERVICE, gpus(gpus), false));
        advance(99);
        log.clear();
    }

    private void take(double second, Action action) {
        sequence++;
        record(actuation.take(decision(1, sequence, false, second, action), at(second)));
    }

    private void advance(double second) {
        record(actuation.advance(at(second)));
    }

    private void record(List<ActuationReport> reports) {
        assertThat(List.of(ACCEPTED, APPLIED, BOUND, FAILED, FORCED, HOLDS, REJECTED, RELEASED))
                .containsAll(reports.stream().map(ActuationReport::outcome).toList());
        reports.forEach(report -> log.add(line(report)));
    }

    private static String line(ActuationReport report) {
        double second = Duration.between(NOON, report.at()).toMillis() / 1000.0;
        String gpus = String.join(",", report.gpus().stream().map(GpuId::value).toList());
        return "%s %s %s %s%s"
                .formatted(
                        second == Math.rint(second) ? String.valueOf((long) second) : String.valueOf(second),
                        report.decision(),
                        report.outcome(),
                        gpus.isEmpty() ? "-" : gpus,
                        report.reason().isEmpty() ? "" : " (" + report.reason() + ")");
    }

    private static Decision decision(long epoch, long sequence, boolean advisory, double second, Action action) {
        return new Decision(
                new DecisionId(DOMAIN, epoch, sequence),
                at(second),
                at(second).plusSeconds(60),
                advisory,
                reason(),
                action);
    }

    private static Reason reason() {
        return new Reason("plan", "", Map.of(), List.of());
    }

    private static Action resize(JobId job, List<String> gpus, String... allocation) {
        return new Action.Resize(job, gpus.stream().map(GpuId::new).toList(), allocation(Mechanism.AFE, allocation));
    }

    private static Action lend(JobId job, double until, List<String> gpus, String... allocation) {
        return new Action.Lend(
                job, gpus.stream().map(GpuId::new).toList(), at(until), allocation(Mechanism.AFE, allocation));
    }

    private static Action reclaim(JobId job, double by, List<String> gpus, String... allocation) {
        return new Action.Reclaim(
                job, gpus.stream().map(GpuId::new).toList(), at(by), allocation(Mechanism.AFE, allocation));
    }

    private static Allocation allocation(Mechanism mechanism, String... gpus) {
        return new Allocation(gpus(gpus), 10, 0, 1, mechanism);
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    private static Instant at(double second) {
        return NOON.plusMillis(Math.round(second * 1000));
    }

    private static Actuation actuation(DelayModel delays) {
        var actuation = new Actuation("a", NOTICE, new SimulatedDriver(delays));
        tell(actuation);
        return actuation;
    }

    private static void tell(Actuation actuation) {
        actuation.know(node("n1", Pool.TRAINING, "t1", "t2", "t3", "t4"));
        actuation.know(node("n2", Pool.INFERENCE, "i1", "i2", "i3", "i4"));
        actuation.know(job(JOB));
        actuation.know(job(OTHER));
        actuation.know(new InferenceService(
                SERVICE,
                DOMAIN,
                NOON,
                List.of(),
                Duration.ofMillis(200),
                10,
                Optional.empty(),
                0,
                Duration.ofSeconds(6)));
    }

    private static Node node(String name, Pool pool, String... gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), DOMAIN, pool, "boot", NOON, NodeStatus.READY, inventory);
    }

    /** Starts in 20 s, changes in 2 s; a step of 10 samples takes half a second. */
    private static TrainingJob job(JobId id) {
        return new TrainingJob(
                id,
                DOMAIN,
                NOON,
                "cifar10",
                new TrainingJob.Scaling(1, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(10, 1000, 1, 100, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(Duration.ofSeconds(20), Duration.ofSeconds(2))),
                "simulated",
                Optional.empty());
    }
}
