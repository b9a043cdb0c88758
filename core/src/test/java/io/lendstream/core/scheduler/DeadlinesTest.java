package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.gpus;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What happens when a time is over, and when that is. */
class DeadlinesTest {
    private static final SchedulerSettings SETTINGS = SchedulerSettings.DEFAULTS;

    private final Moment moment = new Moment()
            .node("train", Pool.TRAINING, 3)
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1);

    /** A step after some time, in which everything that is due then has been acted on. */
    private StepBuilder expired(Duration after, boolean decides) {
        StepBuilder builder = moment.after(after);
        new Deadlines(builder, SETTINGS).expire(decides);
        return builder;
    }

    private StepBuilder expired(Duration after) {
        return expired(after, true);
    }

    private static Owner owner(StepBuilder builder, String gpu) {
        return builder.gpu(new GpuId(gpu)).owner();
    }

    private static List<Decision> decisions(StepBuilder builder) {
        return builder.finished().decisions();
    }

    @Test
    void aReplicaSleepsOnceItIsNoLongerProtected() {
        moment.owned(Moment.warm("chat", ofSeconds(30)), "infer-g0");

        assertThat(owner(expired(ofMillis(29_999)), "infer-g0")).isEqualTo(Moment.warm("chat", ofSeconds(30)));
        assertThat(owner(expired(ofSeconds(30)), "infer-g0")).isEqualTo(Moment.sleeping("chat"));
        assertThat(decisions(expired(ofSeconds(30)))).isEmpty();
    }

    @Test
    void everythingThatIsDueIsActedOnAndNothingElse() {
        moment.owned(Moment.warm("chat", ofSeconds(30)), "infer-g0")
                .owned(Moment.warm("chat", ofSeconds(20)), "infer-g1")
                .owned(Moment.warm("chat", ofSeconds(31)), "infer-g2");

        StepBuilder builder = expired(ofSeconds(30));

        assertThat(owner(builder, "infer-g0")).isEqualTo(Moment.sleeping("chat"));
        assertThat(owner(builder, "infer-g1")).isEqualTo(Moment.sleeping("chat"));
        assertThat(owner(builder, "infer-g2")).isInstanceOf(Owner.Protected.class);
    }

    @Test
    void aReleaseThatIsNotReportedPutsItsGpuOutOfService() {
        moment.owned(Moment.releasing(Moment.service("chat"), ofSeconds(90)), "infer-g0");

        assertThat(owner(expired(ofMillis(89_999)), "infer-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(owner(expired(ofSeconds(90)), "infer-g0"))
                .isEqualTo(new Owner.Quarantined("its release was not reported within twice the notice (test/0/7)"));
    }

    @Test
    void aGpuThatIsNotSeenCutInTimeIsOutOfService() {
        moment.owned(new Owner.Recutting(EARLIER, NOW.plusSeconds(120), true), "infer-g0");

        assertThat(owner(expired(ofMillis(119_999)), "infer-g0")).isInstanceOf(Owner.Recutting.class);
        assertThat(owner(expired(ofMinutes(2)), "infer-g0"))
                .isEqualTo(new Owner.Quarantined("its GPU was not cut in time (test/0/7)"));
    }

    @Test
    void aLoanThatDoesNotComeBackIsOutOfServiceTheNoticeAfterItsLease() {
        moment.owned(Moment.lent("a", ofMinutes(10)), "infer-g0");

        assertThat(owner(expired(ofMillis(644_999)), "infer-g0")).isInstanceOf(Owner.Lent.class);
        assertThat(owner(expired(ofSeconds(645)), "infer-g0"))
                .isEqualTo(new Owner.Quarantined("its lease ended and no actuator reported its return (test/0/7)"));
    }

    @Test
    void whereNothingIsDecidedWhatIsNotBoundInTimeIsOutOfService() {
        moment.job("a", 1)
                .owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0")
                .owned(Moment.binding(Moment.service("chat"), ofMinutes(1)), "infer-g0");

        StepBuilder builder = expired(ofMinutes(1), false);

        Owner late = new Owner.Quarantined("no actuator reported it as bound in time (test/0/7)");
        assertThat(owner(builder, "train-g0")).isEqualTo(late);
        assertThat(owner(builder, "infer-g0")).isEqualTo(late);
        assertThat(decisions(builder)).isEmpty();
    }

    /** A job that trains on one GPU and gets two more, without a report on them. */
    private void twoUnbound() {
        moment.allocated("a", "train-g0", "train-g1", "train-g2")
                .owned(Moment.training("a"), "train-g0")
                .owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g1", "train-g2");
    }

    @Test
    void anElasticJobGoesOnWithoutGpusThatAreNotReportedBound() {
        moment.job("a", 3);
        twoUnbound();
        long told = moment.jobState("a").lastEvent();

        assertThat(decisions(expired(ofMillis(59_999)))).isEmpty();
        StepBuilder builder = expired(ofMinutes(1));

        assertThat(decisions(builder)).singleElement().satisfies(undone -> {
            assertThat(undone.deadline()).isEqualTo(NOW.plusSeconds(105));
            assertThat(undone.reason())
                    .isEqualTo(new Reason(
                            "timeout",
                            "a gives 2 GPUs back and goes on with 1 GPU: no actuator reported 2 GPUs as bound within 60 s",
                            Map.of("gpusBefore", 3.0, "gpusAfter", 1.0, "unbound", 2.0),
                            List.of(told, builder.eventSequence())));
            assertThat(((Action.Resize) undone.action()).gpus()).isEqualTo(gpus("train-g1", "train-g2"));
            assertThat(((Action.Resize) undone.action()).allocation().gpus()).isEqualTo(gpus("train-g0"));
        });
        assertThat(owner(builder, "train-g0")).isEqualTo(Moment.training("a"));
        assertThat(owner(builder, "train-g1"))
                .isEqualTo(new Owner.Releasing(
                        Moment.job("a"), Moment.decision(1), NOW.plusSeconds(105), NOW.plusSeconds(150)));
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void aRigidJobIsSuspendedWhereOneOfItsGpusIsNotReportedBound() {
        moment.rigidJob("a", 3)
                .allocated("a", "train-g0", "train-g1", "train-g2")
                .owned(Moment.training("a"), "train-g0", "train-g1")
                .owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g2");

        StepBuilder builder = expired(ofMinutes(1));

        assertThat(decisions(builder)).singleElement().satisfies(undone -> {
            assertThat(undone.reason().text())
                    .isEqualTo("a gives 3 GPUs back and waits: no actuator reported 1 GPU as bound within 60 s");
            assertThat(undone.action().gpus()).isEqualTo(gpus("train-g0", "train-g1", "train-g2"));
        });
        assertThat(builder.jobs().require(new JobId("a")).gpus()).isZero();
    }

    @Test
    void aGpuThatIsBeingBoundToAnUnknownJobIsOutOfServiceInTheEnd() {
        moment.owned(Moment.binding(Moment.job("ghost"), ofMinutes(1)), "train-g0");

        StepBuilder builder = expired(ofMinutes(1));

        assertThat(owner(builder, "train-g0"))
                .isEqualTo(new Owner.Quarantined("its bind failed: job ghost is unknown"));
        assertThat(decisions(builder)).isEmpty();
    }

    @Test
    void aReplicaThatDoesNotComeUpIsStoppedAndAnotherGpuIsTried() {
        moment.owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g0");
        long bound = moment.gpu("infer-g0").changedBy();

        assertThat(decisions(expired(ofMillis(15_999)))).isEmpty();
        StepBuilder builder = expired(ofSeconds(16));

        assertThat(decisions(builder)).singleElement().satisfies(stopped -> {
            assertThat(stopped.deadline()).isEqualTo(NOW.plusSeconds(46));
            assertThat(stopped.reason())
                    .isEqualTo(new Reason(
                            "timeout",
                            "chat stops its replica on infer-g0: it did not start within twice its warm-up, so another GPU is tried",
                            Map.of(),
                            List.of(bound, builder.eventSequence())));
            assertThat(stopped.action())
                    .isEqualTo(new Action.Idle(
                            moment.serviceState("chat").spec().service(), gpus("infer-g0"), NOW.plusSeconds(46)));
        });
        assertThat(owner(builder, "infer-g0"))
                .isEqualTo(new Owner.Releasing(
                        Moment.service("chat"), Moment.decision(1), NOW.plusSeconds(46), NOW.plusSeconds(91)));
        assertThat(builder.gpu(new GpuId("infer-g0")).failedBinds()).isEqualTo(1);
    }

    @Test
    void aGpuOnWhichNoReplicaComesUpTwiceInARowIsOutOfService() {
        moment.set(builder -> builder.put(builder.gpu(new GpuId("infer-g0")).withFailedBinds(1)))
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g0");

        StepBuilder builder = expired(ofSeconds(16));

        assertThat(owner(builder, "infer-g0"))
                .isEqualTo(new Owner.Quarantined("a replica of chat did not start on it, twice in a row"));
        assertThat(builder.gpu(new GpuId("infer-g0")).failedBinds()).isEqualTo(2);
        assertThat(decisions(builder)).isEmpty();
    }

    @Test
    void noReportIsWaitedForAfterTheTimeInWhichAJobWasToBeChanged() {
        moment.job("a", 2).changing("a", NOW.plusSeconds(50), "train-g0");

        StepBuilder early = expired(ofMillis(49_999));
        StepBuilder builder = expired(ofSeconds(50));

        assertThat(early.jobs().require(new JobId("a")).changing()).contains(EARLIER);
        assertThat(early.changesPlans()).isFalse();
        assertThat(builder.jobs().require(new JobId("a")).changing()).isEmpty();
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void aJobThatIsOverIsForgottenAfterADay() {
        moment.job("a", 2).progress("a", JobPhase.FINISHED).job("b", 2).progress("b", JobPhase.RUNNING);

        assertThat(expired(ofHours(24)).jobs().get(new JobId("a"))).isPresent();
        StepBuilder builder = expired(ofHours(24).plusMillis(1));

        assertThat(builder.jobs().get(new JobId("a"))).isEmpty();
        assertThat(builder.jobs().get(new JobId("b"))).isPresent();
    }

    /** Loans of two jobs, of which one ends earlier by so much. */
    private void loans(Duration earlier) {
        moment.job("a", 2)
                .job("b", 2)
                .allocated("a", "infer-g0", "infer-g1")
                .allocated("b", "infer-g2")
                .owned(Moment.lent("a", ofMinutes(10)), "infer-g1", "infer-g2")
                .owned(Moment.lent("a", ofMinutes(10).minus(earlier)), "infer-g0")
                .owned(Moment.lent("b", ofMinutes(10)), "infer-g2");
    }

    /** A step after some time, to which demand is known, in which loans have been looked after. */
    private StepBuilder kept(Duration after) {
        moment.later(after).rate("chat", 5);
        StepBuilder builder = moment.after(Duration.ZERO);
        new Deadlines(builder, SETTINGS).keepLeases();
        return builder;
    }

    @Test
    void aLoanIsRenewedWhenHalfOfItsLeaseIsOver() {
        moment.job("a", 2).allocated("a", "infer-g0").owned(Moment.lent("a", ofMinutes(10)), "infer-g0");

        assertThat(decisions(kept(ofMillis(299_999)))).isEmpty();
        StepBuilder builder = kept(ofMillis(1));

        Instant until = NOW.plusSeconds(900);
        assertThat(decisions(builder)).singleElement().satisfies(renewal -> {
            assertThat(renewal.action()).isEqualTo(new Action.Renew(gpus("infer-g0"), until));
            assertThat(renewal.deadline()).isEqualTo(until);
            assertThat(renewal.reason())
                    .isEqualTo(new Reason(
                            "lease",
                            "1 loan is renewed until 2026-01-01 00:15:00 UTC",
                            Map.of("loans", 1.0),
                            List.of(builder.eventSequence())));
        });
        assertThat(owner(builder, "infer-g0")).isEqualTo(new Owner.Lent(new JobId("a"), EARLIER, until));
        assertThat(builder.gpu(new GpuId("infer-g0")).since()).isEqualTo(NOW);
    }

    @Test
    void loansOfWhichAQuarterOfTheLeaseIsOverAreRenewedAlong() {
        loans(ofSeconds(150));
        moment.owned(Moment.lent("b", ofMillis(600_001)), "infer-g3");

        StepBuilder builder = kept(ofSeconds(150));

        assertThat(decisions(builder)).singleElement().satisfies(renewal -> {
            assertThat(renewal.action().gpus()).isEqualTo(gpus("infer-g0", "infer-g1", "infer-g2"));
            assertThat(renewal.reason().text()).isEqualTo("3 loans are renewed until 2026-01-01 00:12:30 UTC");
            assertThat(renewal.reason().numbers()).isEqualTo(Map.of("loans", 3.0));
        });
        assertThat(owner(builder, "infer-g3")).isEqualTo(Moment.lent("b", ofMillis(600_001)));
    }

    @Test
    void allLoansAreTakenBackFromEveryJobWhereDemandIsUnknown() {
        moment.rate("chat", 5);
        long rate = moment.state().eventSequence();
        loans(Duration.ZERO);
        StepBuilder builder = moment.after(ofSeconds(61));

        new Deadlines(builder, SETTINGS).keepLeases();

        assertThat(decisions(builder)).hasSize(2);
        Decision first = decisions(builder).get(0);
        assertThat(first.action().gpus()).isEqualTo(gpus("infer-g0", "infer-g1"));
        assertThat(first.deadline()).isEqualTo(NOW.plusSeconds(106));
        assertThat(first.reason())
                .isEqualTo(new Reason(
                        "safety",
                        "a gives 2 GPUs back and waits: the demand of chat is unknown (no request rates for 61 s)",
                        Map.of("gpusBefore", 2.0, "gpusAfter", 0.0),
                        List.of(rate, builder.eventSequence())));
        assertThat(decisions(builder).get(1).action().gpus()).isEqualTo(gpus("infer-g2"));
    }

    @Test
    void loansOfAFrozenDomainEndWithTheirLeases() {
        moment.control(ControlCommand.Kind.FREEZE);
        loans(ofSeconds(100));

        assertThat(decisions(kept(ofMillis(454_999)))).isEmpty();
        StepBuilder builder = kept(ofMillis(1));

        assertThat(decisions(builder)).singleElement().satisfies(end -> {
            assertThat(end.action())
                    .isInstanceOfSatisfying(
                            Action.Reclaim.class,
                            reclaim -> assertThat(reclaim.allocation().gpus()).isEqualTo(gpus("infer-g1")));
            assertThat(end.action().gpus()).isEqualTo(gpus("infer-g0"));
            assertThat(end.reason())
                    .isEqualTo(new Reason(
                            "lease",
                            "a gives 1 GPU back and goes on with 1 GPU: its lease ends and is not renewed,"
                                    + " because the domain is frozen",
                            Map.of("gpusBefore", 2.0, "gpusAfter", 1.0),
                            List.of(builder.eventSequence() - 1, builder.eventSequence())));
        });
    }

    @Test
    void noLoanIsRenewedWhileRatesAreStale() {
        moment.job("a", 2).allocated("a", "infer-g0").owned(Moment.lent("a", ofMinutes(10)), "infer-g0");
        moment.later(ofSeconds(510)).rate("chat", 5);
        StepBuilder builder = moment.after(ofSeconds(50));

        new Deadlines(builder, SETTINGS).keepLeases();

        assertThat(decisions(builder))
                .singleElement()
                .satisfies(
                        end -> assertThat(end.reason().text())
                                .isEqualTo(
                                        "a gives 1 GPU back and waits: its lease ends and is not renewed, because the request rates of chat are 50 s old (limit: 45 s, 3 windows of 15 s)"));
    }

    private Optional<Instant> next() {
        return Deadlines.next(moment.state(), SETTINGS);
    }

    @Test
    void nothingHappensByItselfInADomainWithoutDeadlines() {
        assertThat(next()).isEmpty();
    }

    @Test
    void theNextTimeIsTheEarliestOfPlanOwnersAndChanges() {
        moment.job("a", 2).changing("a", NOW.plusSeconds(50), "train-g0");
        assertThat(next()).contains(NOW.plusSeconds(50));

        moment.owned(Moment.warm("chat", ofSeconds(40)), "infer-g0")
                .owned(Moment.warm("chat", ofSeconds(45)), "infer-g1");
        assertThat(next()).contains(NOW.plusSeconds(40));

        moment.set(builder -> builder.nextPlanAt(NOW.plusSeconds(60)));
        assertThat(next()).contains(NOW.plusSeconds(40));
        moment.set(builder -> builder.nextPlanAt(NOW.plusSeconds(30)));
        assertThat(next()).contains(NOW.plusSeconds(30));
    }

    @Test
    void aLoanIsLookedAfterAtItsRenewalAtItsWarningAndWhenItIsOver() {
        moment.rate("chat", 5).owned(Moment.lent("a", ofMinutes(10)), "infer-g0");
        moment.later(ofSeconds(250)).rate("chat", 5);
        assertThat(next()).as("half of the lease").contains(NOW.plusSeconds(300));

        moment.later(ofSeconds(50)).rate("chat", 5);
        assertThat(next()).as("demand unknown").contains(NOW.plusMillis(360_001));

        moment.later(ofSeconds(250)).rate("chat", 5);
        assertThat(next()).as("the notice before the lease ends").contains(NOW.plusSeconds(555));

        moment.later(ofSeconds(5)).rate("chat", 5).later(ofSeconds(35)).rate("chat", 5);
        assertThat(next()).as("the notice after the lease ended").contains(NOW.plusSeconds(645));
    }

    @Test
    void silenceForcesNothingWhereNothingIsLent() {
        moment.rate("chat", 5).owned(Moment.warm("chat", ofSeconds(90)), "infer-g0");

        assertThat(next()).contains(NOW.plusSeconds(90));
    }

    @Test
    void cutsArePlannedFiveMinutesAfterTheyWerePlannedLastWhereGpusAreCut() {
        SchedulerSettings cutting = SETTINGS.withRepartition(true);
        SlicePlan plan = new SlicePlan(NOW.minusSeconds(100), "", List.of(), List.of(), 0, NOW, NOW, "for the test");
        moment.set(builder -> builder.slices(plan));

        assertThat(Deadlines.next(moment.state(), cutting)).contains(NOW.plusSeconds(200));
        assertThat(Deadlines.next(moment.state(), SETTINGS)).isEmpty();
        assertThat(Deadlines.next(moment.later(ofSeconds(200)).rate("chat", 5).state(), cutting))
                .as("a plan that is due already is made at any event")
                .isEmpty();
    }
}
