package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Machine;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** An actuator whose drivers tell what they have done. */
class DrivenActuationTest {
    private static final Tenant.Job JOB = new Tenant.Job(new JobId("job"));
    private static final Tenant.Service CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final GpuId A = RandomDecisions.GPUS.get(0);
    private static final GpuId B = RandomDecisions.GPUS.get(1);
    private static final GpuId LENT = RandomDecisions.INFERENCE.get(0);

    private Actuation actuation = RandomDecisions.actuation(ScriptedDriver.ABLE);
    private final List<String> log = new ArrayList<>();
    private long sequence;

    private static Instant at(double second) {
        return RandomDecisions.START.plusMillis(Math.round(second * 1000));
    }

    private DecisionId take(double second, Action action) {
        DecisionId id = new DecisionId(RandomDecisions.DOMAIN, 1, ++sequence);
        Reason reason = new Reason("test", "", Map.of(), List.of());
        note(actuation.take(new Decision(id, at(second), at(second + 60), false, reason, action), at(second)));
        return id;
    }

    private void done(double second, DriverEvent driverEvent) {
        note(actuation.done(driverEvent, at(second)));
    }

    private void advance(double second) {
        note(actuation.advance(at(second)));
    }

    private void restart(double second) {
        actuation = RandomDecisions.restarted(actuation, ScriptedDriver.ABLE);
        assertThat(actuation.resume(at(second), true)).isNotEmpty();
    }

    private void note(List<ActuationReport> reports) {
        reports.forEach(report -> log.add("%d %s %s"
                .formatted(
                        report.decision().sequence(),
                        report.outcome(),
                        report.gpus().stream()
                                .map(RandomDecisions.GPUS::indexOf)
                                .sorted()
                                .toList())));
    }

    private static Action resize(GpuId... gpus) {
        return new Action.Resize(JOB.job(), List.of(gpus), allocation(gpus));
    }

    private static Allocation allocation(GpuId... gpus) {
        return new Allocation(List.of(gpus), gpus.length == 0 ? 0 : 32, 0, 1, Mechanism.AFE);
    }

    @Test
    void ordersWhatIsToRunAndReportsWhatTheDriverTells() {
        DecisionId first = take(0, resize(A, B));
        assertThat(actuation.orders())
                .containsExactly(
                        new Order.Place(first, JOB, List.of(A, B), List.of(), Optional.of(allocation(A, B)), at(60)));
        done(3, new DriverEvent.Started(JOB, List.of(A)));
        done(4, new DriverEvent.Started(JOB, List.of(A, B)));
        done(6, new DriverEvent.InForce(JOB, first));
        DecisionId second = take(10, new Action.Resize(JOB.job(), List.of(B), allocation(A)));
        done(11, new DriverEvent.Stopped(JOB, List.of(B), false, ""));
        done(11, new DriverEvent.Stopped(JOB, List.of(B), false, ""));
        done(12, new DriverEvent.InForce(JOB, second));

        assertThat(log)
                .containsExactly(
                        "1 ACCEPTED [0, 1]",
                        "1 BOUND [0]",
                        "1 BOUND [1]",
                        "1 APPLIED [0, 1]",
                        "2 ACCEPTED [1]",
                        "2 RELEASED [1]",
                        "2 APPLIED [0]");
    }

    @Test
    void measuresEachPart() {
        DecisionId first = take(0, resize(A));
        List<ActuationReport> came = actuation.done(new DriverEvent.Started(JOB, List.of(A)), at(2.5));
        List<ActuationReport> settled = actuation.done(new DriverEvent.InForce(JOB, first), at(4));
        take(10, resize());
        actuation.take(
                new Decision(
                        new DecisionId(RandomDecisions.DOMAIN, 1, ++sequence),
                        at(10),
                        at(20),
                        false,
                        new Reason("test", "", Map.of(), List.of()),
                        new Action.Reclaim(JOB.job(), List.of(A), at(20), allocation())),
                at(10));
        List<ActuationReport> left = actuation.done(new DriverEvent.Stopped(JOB, List.of(A), false, ""), at(10.4));

        assertThat(came.get(0).timings().bind()).contains(Duration.ofMillis(2500));
        assertThat(settled.get(0).timings().bind()).contains(Duration.ofMillis(2500));
        assertThat(settled.get(0).timings().ready()).contains(Duration.ofMillis(1500));
        assertThat(left.get(0).timings().release()).contains(Duration.ofMillis(400));
    }

    @Test
    void aTenantThatDoesNotLeaveIsKilledAgainAndAgainAndIsNotReportedGoneBefore() {
        take(0, new Action.Lend(JOB.job(), List.of(LENT), at(1000), allocation(LENT)));
        done(1, new DriverEvent.Started(JOB, List.of(LENT)));
        DecisionId reclaim = take(10, new Action.Reclaim(JOB.job(), List.of(LENT), at(20), allocation()));
        actuation.orders();
        log.clear();

        note(actuation.advance(at(19)));
        assertThat(actuation.orders()).isEmpty();
        note(actuation.advance(at(20)));
        Order force = new Order.Force(reclaim, JOB, List.of(LENT));
        assertThat(actuation.orders()).containsExactly(force);
        note(actuation.advance(at(30)));
        assertThat(actuation.orders()).containsExactly(force);
        assertThat(log).isEmpty();
        assertThat(actuation.holdings()).hasSize(1);
        done(31, new DriverEvent.Stopped(JOB, List.of(LENT), true, ""));

        assertThat(log).containsExactly("2 FORCED [3]");
        assertThat(actuation.holdings()).isEmpty();
    }

    /**
     * Both parts of the release are due at the same time: the one that the later decision names, and the one that it
     * does not.
     */
    @Test
    void aLaterDecisionOnPartOfAReleaseLosesNoPartOfIt() {
        take(0, resize(A, B));
        done(1, new DriverEvent.Started(JOB, List.of(A, B)));
        DecisionId first = take(10, new Action.Reclaim(JOB.job(), List.of(A, B), at(20), allocation()));
        DecisionId second = take(15, new Action.Reclaim(JOB.job(), List.of(B), at(40), allocation()));
        actuation.orders();
        log.clear();

        advance(20);
        assertThat(actuation.orders())
                .containsExactlyInAnyOrder(
                        new Order.Force(first, JOB, List.of(A)), new Order.Force(second, JOB, List.of(B)));
        done(21, new DriverEvent.Stopped(JOB, List.of(A, B), true, ""));

        assertThat(log).containsExactlyInAnyOrder("2 FORCED [0]", "3 FORCED [1]");
        assertThat(actuation.holdings()).isEmpty();
    }

    @Test
    void whatDoesNotComeUpIsKilledBeforeItCountsAsFailed() {
        DecisionId serve = take(0, new Action.Serve(CHAT.service(), List.of(LENT), false));
        actuation.orders();

        note(actuation.advance(at(60)));
        assertThat(actuation.orders()).contains(new Order.Force(serve, CHAT, List.of(LENT)));
        assertThat(log).containsExactly("1 ACCEPTED [3]");
        done(61, new DriverEvent.Stopped(CHAT, List.of(LENT), true, ""));

        assertThat(log).containsExactly("1 ACCEPTED [3]", "1 FAILED [3]");
    }

    /**
     * Otherwise the driver kills what did not come up and starts it again, and after a restart the actuator does not
     * know of it.
     */
    @Test
    void whatIsKilledIsNotAskedForAgainByTheEndOfALease() {
        GpuId other = RandomDecisions.INFERENCE.get(1);
        take(0, new Action.Lend(JOB.job(), List.of(LENT), at(60), allocation(LENT)));
        done(1, new DriverEvent.Started(JOB, List.of(LENT)));
        DecisionId second = take(0, new Action.Lend(JOB.job(), List.of(other), at(1000), allocation(LENT, other)));
        actuation.orders();

        advance(60);

        assertThat(actuation.orders())
                .contains(new Order.Force(second, JOB, List.of(other)))
                .filteredOn(Order.Place.class::isInstance)
                .allSatisfy(order -> assertThat(((Order.Place) order).units()).doesNotContain(other));
    }

    @Test
    void whatIsKilledCannotBeBoundBeforeItIsGone() {
        take(0, resize(A));
        advance(60);
        actuation.orders();
        log.clear();

        take(61, resize(A, B));
        assertThat(log).containsExactly("2 REJECTED [0, 1]");
        done(62, new DriverEvent.Stopped(JOB, List.of(A), true, ""));
        take(63, resize(A, B));

        assertThat(log).containsExactly("2 REJECTED [0, 1]", "1 FAILED [0]", "3 ACCEPTED [0, 1]");
    }

    @Test
    void theReleaseOfABindThatDidNotComeUpIsReportedUnderTheDecisionThatAsksForIt() {
        take(0, resize(A));
        advance(60);
        log.clear();

        take(61, new Action.Resize(JOB.job(), List.of(A), allocation()));
        done(62, new DriverEvent.Stopped(JOB, List.of(A), true, ""));
        done(63, new DriverEvent.Stopped(JOB, List.of(A), true, ""));

        assertThat(log).contains("2 ACCEPTED [0]", "2 FORCED [0]");
        assertThat(actuation.holdings()).isEmpty();
    }

    @Test
    void whatADriverCannotDoIsKilledBeforeItCountsAsFailed() {
        DecisionId resize = take(0, resize(A));
        actuation.orders();

        done(5, new DriverEvent.Failed(JOB, resize, "no such job"));
        assertThat(actuation.orders()).contains(new Order.Force(resize, JOB, List.of(A)));
        assertThat(log).containsExactly("1 ACCEPTED [0]");
        done(6, new DriverEvent.Stopped(JOB, List.of(A), true, ""));

        assertThat(log).containsExactly("1 ACCEPTED [0]", "1 FAILED [0]");
        assertThat(actuation.holdings()).isEmpty();
    }

    @Test
    void aLeaseThatRunsOutEndsWithoutADecision() {
        DecisionId lend = take(0, new Action.Lend(JOB.job(), List.of(LENT), at(100), allocation(LENT)));
        done(1, new DriverEvent.Started(JOB, List.of(LENT)));
        actuation.orders();

        note(actuation.advance(at(100)));

        assertThat(actuation.orders())
                .containsExactly(
                        new Order.Place(lend, JOB, List.of(), List.of(LENT), Optional.of(allocation(LENT)), at(145)));
    }

    /**
     * The decision was made before its scheduler heard that the job had left, and takes the GPU for free a moment
     * later.
     */
    @Test
    void aJobIsNotBroughtBackToWhatItLeftByItselfBeforeItsSchedulerCanHaveHeard() {
        take(0, resize(A));
        done(1, new DriverEvent.Started(JOB, List.of(A)));
        take(10, new Action.Lend(JOB.job(), List.of(LENT), at(1000), allocation(A, LENT)));
        done(11, new DriverEvent.Started(JOB, List.of(A, LENT)));
        done(20, new DriverEvent.Stopped(JOB, List.of(A), false, "it crashed"));
        log.clear();

        take(21, new Action.Reclaim(JOB.job(), List.of(LENT), at(60), allocation(A)));
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactly(LENT);
        done(22, new DriverEvent.Stopped(JOB, List.of(LENT), false, ""));
        assertThat(log).containsExactly("3 ACCEPTED [3]", "3 RELEASED [3]");

        take(30, resize());
        take(40, resize(A));
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactly(A);
    }

    /** Who decides of the other GPUs alone, with the lost one left out in between, may have it filled up again. */
    @Test
    void aDecisionWithoutTheLostGpuShowsThatItsLossIsKnown() {
        take(0, resize(A, B));
        done(1, new DriverEvent.Started(JOB, List.of(A, B)));
        done(20, new DriverEvent.Stopped(JOB, List.of(A), false, "it crashed"));

        take(21, new Action.Resize(JOB.job(), List.of(A), allocation(B)));
        take(30, new Action.Lend(JOB.job(), List.of(LENT), at(1000), allocation(A, B, LENT)));
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactlyInAnyOrder(A, B, LENT);
    }

    @Test
    void aTenantThatLeavesByItselfIsReportedUnderWhatPutItThere() {
        take(0, resize(A));
        done(1, new DriverEvent.Started(JOB, List.of(A)));

        done(50, new DriverEvent.Stopped(JOB, List.of(A), false, "exit status 0"));

        assertThat(log).containsExactly("1 ACCEPTED [0]", "1 BOUND [0]", "1 RELEASED [0]");
        assertThat(actuation.resume(RandomDecisions.START, true)).isEmpty();
    }

    @Test
    void whatDoesNotComeBackAfterARestartIsKilledAndReportedAsGone() {
        DecisionId decision = take(0, resize(A, B));
        done(1, new DriverEvent.Started(JOB, List.of(A, B)));
        done(2, new DriverEvent.InForce(JOB, decision));
        restart(100);

        done(101, new DriverEvent.Started(JOB, List.of(B)));
        assertThat(actuation.stock())
                .flatExtracting(ActuationReport::gpus)
                .doesNotContain(A)
                .contains(B);
        advance(399);
        assertThat(actuation.orders()).isEmpty();
        advance(400);
        assertThat(actuation.orders())
                .anySatisfy(order -> assertThat(order)
                        .isInstanceOfSatisfying(
                                Order.Force.class,
                                force -> assertThat(force.units()).containsExactly(A)));
        List<ActuationReport> gone = actuation.done(new DriverEvent.Stopped(JOB, List.of(A), true, ""), at(401));
        note(gone);

        assertThat(gone)
                .extracting(ActuationReport::reason)
                .containsExactly("killed: its driver did not confirm it since the actuator's restart");
        assertThat(log).containsExactly("1 ACCEPTED [0, 1]", "1 BOUND [0, 1]", "1 APPLIED [0, 1]", "1 FORCED [0]");
        advance(1000);
        assertThat(actuation.orders()).isEmpty();
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactly(B);
    }

    @Test
    void silenceOfARemoteDriverCausesNoChange() {
        take(0, resize(A, B));
        done(1, new DriverEvent.Started(JOB, List.of(A, B)));
        actuation = RandomDecisions.restarted(actuation, ScriptedDriver.ABLE);
        assertThat(actuation.resume(at(100), false)).isNotEmpty();

        advance(10_000);

        assertThat(actuation.orders()).isEmpty();
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactlyInAnyOrder(A, B);
    }

    @Test
    void aDriverThatSaysThatAllIsAsDecidedOrThatItCannotChangeItVouchesForWhatRan() {
        DecisionId decision = take(0, resize(A, B));
        done(1, new DriverEvent.Started(JOB, List.of(A, B)));
        double second = 0;
        for (DriverEvent vouching : List.of(
                new DriverEvent.InForce(JOB, decision),
                new DriverEvent.Failed(JOB, decision, "its program is unknown"))) {
            second += 1000;
            restart(second);

            done(second + 1, vouching);
            advance(second + 500);

            assertThat(actuation.orders()).isEmpty();
            assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactlyInAnyOrder(A, B);
        }
    }

    /** What has started in part is killed first, which an actuator may do after a restart. */
    @Test
    void aFailureOfAProgramIsReportedAsSuch() {
        DecisionId decision = take(0, resize(A));
        done(1, new DriverEvent.Failed(JOB, decision, "its program is missing", true));
        actuation = RandomDecisions.restarted(actuation, ScriptedDriver.ABLE);
        actuation.resume(at(2), false);

        List<ActuationReport> reports = actuation.done(new DriverEvent.Stopped(JOB, List.of(A), true, ""), at(3));

        assertThat(reports).singleElement().satisfies(report -> {
            assertThat(report.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(report.reason()).contains("its program is missing");
            assertThat(report.programFault()).isTrue();
        });
    }

    @Test
    void aReplicaThatStopsForItsProgramBeforeOrAfterItSeemedToRunIsReportedSo() {
        take(0, new Action.Serve(CHAT.service(), List.of(A, B), false));
        done(1, new DriverEvent.Started(CHAT, List.of(B)));

        List<ActuationReport> reports = actuation.done(
                new DriverEvent.Stopped(CHAT, List.of(A, B), false, "its program is missing").ofProgram(true), at(2));

        assertThat(reports)
                .extracting(ActuationReport::outcome)
                .containsExactlyInAnyOrder(Outcome.FAILED, Outcome.RELEASED);
        assertThat(reports).allMatch(ActuationReport::programFault);
    }

    @Test
    void whatNoDriverCanDoIsRefusedAsAWhole() {
        actuation = RandomDecisions.actuation(ScriptedDriver.UNABLE);

        take(0, resize(A));

        assertThat(log).containsExactly("1 REJECTED [0]");
        assertThat(actuation.refusals()).containsEntry(Refusal.UNSUPPORTED, 1L);
        assertThat(actuation.holdings()).isEmpty();
    }

    /** In these histories a later decision names one part of a release whose other part is due at the same time. */
    @Test
    void aReleaseInTwoPartsLosesNeither() {
        keepsItsPromises(16_424);
        keepsItsPromises(19_588);
    }

    /**
     * In these, a decision asks for a unit while what did not come up there is being killed, and the actuator restarts.
     */
    @Test
    void whatIsKilledDoesNotComeBack() {
        keepsItsPromises(24_489);
        keepsItsPromises(31_779);
    }

    /**
     * Whatever is decided, whatever goes wrong, and however often the actuator restarts in between. A usual build plays
     * a thousand histories; {@code -Dseeds.count=100000} plays more.
     */
    @Seeds
    void nothingRunsTwiceOnAUnitAndAUnitIsReportedFreeOnlyWhenItIs(long seed) {
        keepsItsPromises(seed);
    }

    private void keepsItsPromises(long seed) {
        Random random = new Random(seed);
        Machine machine = new Machine(random, random.nextBoolean() ? 0 : 0.15);
        ChangeDriver driver = ScriptedDriver.ABLE;
        actuation = RandomDecisions.actuation(driver);
        sequence = 0;
        Map<GpuId, Tenant> reported = new HashMap<>();
        Instant now = RandomDecisions.START;
        for (int second = 0; second < 1000; second++) {
            now = now.plusSeconds(1);
            List<ActuationReport> reports = new ArrayList<>();
            if (second < 400 && random.nextInt(6) == 0) {
                reports.addAll(actuation.take(RandomDecisions.decision(random, now, ++sequence), now));
            }
            List<DriverEvent> deeds = new ArrayList<>(machine.advance(now));
            if (second < 600 && random.nextInt(40) == 0) {
                deeds.addAll(machine.crash(RandomDecisions.GPUS.get(random.nextInt(RandomDecisions.GPUS.size()))));
            }
            if (second < 600 && random.nextInt(20) == 0) {
                deeds.clear(); // it ends before it has taken them in
                actuation = RandomDecisions.restarted(actuation, driver);
                for (Order order : actuation.resume(now, true)) {
                    deeds.addAll(machine.take(order, now));
                }
            }
            for (DriverEvent driverEvent : deeds) {
                reports.addAll(actuation.done(driverEvent, now));
                if (random.nextInt(5) == 0) {
                    reports.addAll(actuation.done(driverEvent, now));
                }
            }
            reports.addAll(actuation.advance(now));
            for (Order order : actuation.orders()) {
                for (DriverEvent driverEvent : machine.take(order, now)) {
                    reports.addAll(actuation.done(driverEvent, now));
                }
            }
            for (ActuationReport report : reports) {
                follow(reported, report, machine);
            }
            assertThat(machine.accidents()).as("accidents, seed %d", seed).isEmpty();
        }

        for (GpuId unit : RandomDecisions.GPUS) {
            assertThat(Optional.ofNullable(reported.get(unit)))
                    .as("who has %s at the end, seed %d", unit, seed)
                    .isEqualTo(machine.tenant(unit));
        }
    }

    private static void follow(Map<GpuId, Tenant> reported, ActuationReport report, Machine machine) {
        if (report.tenant().isEmpty()) {
            return;
        }
        Tenant tenant = report.tenant().get();
        for (GpuId unit : report.gpus()) {
            switch (report.outcome()) {
                case BOUND ->
                    assertThat(reported.put(unit, tenant))
                            .as("owner before %s", report)
                            .isNull();
                case RELEASED, FORCED, FAILED -> {
                    reported.remove(unit, tenant);
                    assertThat(machine.tenant(unit).filter(tenant::equals))
                            .as("who runs there at %s", report)
                            .isEmpty();
                }
                default -> assertThat(report.outcome()).isNotEqualTo(Outcome.UNKNOWN);
            }
        }
    }
}
