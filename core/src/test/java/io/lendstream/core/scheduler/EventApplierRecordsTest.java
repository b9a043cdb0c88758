package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.NOW;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What single records make of a state, and which of them make nothing of it. */
class EventApplierRecordsTest {
    private final Moment moment = new Moment()
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 2)
            .service("chat", 1);

    /** The owner of a GPU after a report. */
    private Owner reported(ActuationReport report, String gpu) {
        return moment.observe(report).owner(gpu);
    }

    private static Owner quarantined(String why) {
        return new Owner.Quarantined(why);
    }

    @Test
    void aReportThatAReplicaIsBoundPutsItToWork() {
        moment.set(builder -> builder.put(builder.gpu(new GpuId("infer-g0")).withFailedBinds(1)))
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g0");

        Owner owner = reported(moment.report(EARLIER, Outcome.BOUND, Moment.service("chat"), "infer-g0"), "infer-g0");

        assertThat(owner).isEqualTo(Moment.serving("chat"));
        assertThat(moment.gpu("infer-g0").boundBy()).contains("agent-1");
        assertThat(moment.gpu("infer-g0").failedBinds()).isZero();
    }

    @Test
    void aGpuThatIsBoundToAJobIsLentUntilItsLeaseEndsOrTrainings() {
        Instant until = NOW.plusSeconds(600);
        moment.owned(
                        new Owner.Binding(Moment.job("a"), EARLIER, NOW.plusSeconds(60), Optional.of(until), 1),
                        "infer-g0")
                .owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0");

        moment.observe(moment.report(EARLIER, Outcome.BOUND, Moment.job("a"), "infer-g0", "train-g0"));

        assertThat(moment.owner("infer-g0")).isEqualTo(new Owner.Lent(new JobId("a"), EARLIER, until));
        assertThat(moment.owner("train-g0")).isEqualTo(Moment.training("a"));
    }

    @Test
    void theNextDecisionOnTheSameTenantMayBindWhatWasToBeBoundAndNoOther() {
        moment.owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0");
        Owner binding = moment.owner("train-g0");

        assertThat(reported(moment.report(Moment.decision(6), Outcome.BOUND, Moment.job("a"), "train-g0"), "train-g0"))
                .isEqualTo(binding);
        assertThat(reported(moment.report(Moment.decision(8), Outcome.BOUND, Moment.job("b"), "train-g0"), "train-g0"))
                .isEqualTo(binding);
        assertThat(reported(moment.report(Moment.decision(8), Outcome.BOUND, Optional.empty(), "train-g0"), "train-g0"))
                .isEqualTo(binding);
        assertThat(reported(moment.report(Moment.decision(8), Outcome.BOUND, Moment.job("a"), "train-g0"), "train-g0"))
                .isEqualTo(Moment.training("a"));
    }

    @Test
    void whatIsBoundOnAFreeGpuByADecisionThatNoLongerHoldsPutsItOutOfService() {
        ActuationReport before = moment.report(EARLIER, Outcome.BOUND, Moment.job("a"), "train-g0");
        moment.later(ofSeconds(1)).owned(new Owner.Free(), "train-g0");
        assertThat(reported(before, "train-g0")).isEqualTo(new Owner.Free());
        assertThat(reported(moment.report(EARLIER, Outcome.BOUND, Optional.empty(), "train-g0"), "train-g0"))
                .isEqualTo(new Owner.Free());

        assertThat(reported(moment.report(EARLIER, Outcome.BOUND, Moment.job("a"), "train-g0"), "train-g0"))
                .isEqualTo(quarantined("job a runs on it by decision test/0/7, which no longer holds"));
    }

    @Test
    void aLateBindChangesNothingWhereAnotherIsAlready() {
        moment.owned(Moment.serving("chat"), "infer-g0").later(ofSeconds(1));

        assertThat(reported(moment.report(EARLIER, Outcome.BOUND, Moment.job("a"), "infer-g0"), "infer-g0"))
                .isEqualTo(Moment.serving("chat"));
        assertThat(moment.gpu("infer-g0").boundBy()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Outcome.class,
            names = {"RELEASED", "FORCED"})
    void aReportedReleaseFreesAGpuUnlessItIsOlderThanTheOneThatIsAwaited(Outcome outcome) {
        moment.owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "train-g0", "train-g1");

        assertThat(reported(moment.report(Moment.decision(6), outcome, Moment.job("a"), "train-g0"), "train-g0"))
                .isInstanceOf(Owner.Releasing.class);
        assertThat(reported(moment.report(EARLIER, outcome, Moment.job("b"), "train-g0"), "train-g0"))
                .isInstanceOf(Owner.Releasing.class);
        assertThat(reported(moment.report(EARLIER, outcome, Moment.job("a"), "train-g0"), "train-g0"))
                .isEqualTo(new Owner.Free());
        assertThat(reported(moment.report(Moment.decision(8), outcome, Optional.empty(), "train-g1"), "train-g1"))
                .isEqualTo(new Owner.Free());
    }

    @Test
    void aReleaseDoesNotFreeAGpuThatIsBeingBoundToTheSameTenantAgain() {
        moment.owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g0")
                .later(ofSeconds(1));

        Owner owner =
                reported(moment.report(EARLIER, Outcome.RELEASED, Moment.service("chat"), "infer-g0"), "infer-g0");

        assertThat(owner).isEqualTo(Moment.binding(Moment.service("chat"), ofSeconds(16)));
    }

    @Test
    void aLoanThatRanOutByItselfIsFree() {
        moment.owned(Moment.lent("a", ofMinutes(10)), "infer-g0", "infer-g1");

        assertThat(reported(moment.report(EARLIER, Outcome.RELEASED, Moment.job("a"), "infer-g0"), "infer-g0"))
                .isEqualTo(new Owner.Free());
        assertThat(reported(
                        moment.report(Moment.decision(6), Outcome.RELEASED, Moment.job("a"), "infer-g1"), "infer-g1"))
                .as("by another decision, and not after it was lent")
                .isEqualTo(Moment.lent("a", ofMinutes(10)));
    }

    @Test
    void whatEndedByItselfFreesItsGpuAndUpsetsThePlan() {
        moment.owned(Moment.training("a"), "train-g0");
        ActuationReport atOnce = moment.report(Moment.decision(6), Outcome.RELEASED, Moment.job("a"), "train-g0");
        assertThat(moment.observed(atOnce).gpu(new GpuId("train-g0")).owner()).isEqualTo(Moment.training("a"));
        moment.later(ofMillis(1));

        StepBuilder builder =
                moment.observed(moment.report(Moment.decision(6), Outcome.RELEASED, Moment.job("a"), "train-g0"));

        assertThat(builder.gpu(new GpuId("train-g0")).owner()).isEqualTo(new Owner.Free());
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void aGpuThatCouldNotBeBoundOnceIsFreeAgainAndTwiceInARowIsOutOfService() {
        moment.owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0");
        StepBuilder failed = moment.observed(moment.report(EARLIER, Outcome.FAILED, Moment.job("a"), "train-g0"));
        assertThat(failed.gpu(new GpuId("train-g0")).owner()).isEqualTo(new Owner.Free());
        assertThat(failed.gpu(new GpuId("train-g0")).failedBinds()).isEqualTo(1);
        assertThat(failed.changesPlans()).isTrue();

        moment.kept(failed).owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0");

        assertThat(reported(moment.report(EARLIER, Outcome.FAILED, Moment.job("a"), "train-g0"), "train-g0"))
                .isEqualTo(quarantined("could not be bound twice in a row: no driver"));
        assertThat(moment.gpu("train-g0").failedBinds()).isEqualTo(2);
    }

    @Test
    void aBindFailsByItsDecisionOrByALaterOneOnTheSameTenant() {
        moment.owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0");

        assertThat(reported(moment.report(Moment.decision(6), Outcome.FAILED, Moment.job("a"), "train-g0"), "train-g0"))
                .as("an earlier decision")
                .isInstanceOf(Owner.Binding.class);
        assertThat(reported(moment.report(Moment.decision(8), Outcome.FAILED, Moment.job("b"), "train-g0"), "train-g0"))
                .as("another job")
                .isInstanceOf(Owner.Binding.class);
        assertThat(reported(moment.report(Moment.decision(8), Outcome.FAILED, Moment.job("a"), "train-g0"), "train-g0"))
                .as("the decision after a refused one")
                .isEqualTo(new Owner.Free());
    }

    @Test
    void aFailureOfATenantThatIsNotBeingBoundChangesNothing() {
        moment.owned(Moment.training("a"), "train-g0");
        ClusterState before = moment.state();

        moment.observe(moment.report(EARLIER, Outcome.FAILED, Moment.job("a"), "train-g0", "unknown-g0"));

        assertThat(moment.state().gpus()).isEqualTo(before.gpus());
    }

    /** A job with GPUs that is being changed. */
    private void changing() {
        moment.job("a", 2).changing("a", NOW.plusSeconds(50), "train-g0");
    }

    @ParameterizedTest
    @CsvSource({"APPLIED, true", "FAILED, true", "TIMED_OUT, true", "ACCEPTED, false", "REJECTED, false"})
    void aChangeOfAJobIsSettledWhereItIsInForceOrGivenUp(Outcome outcome, boolean settles) {
        changing();

        moment.observe(moment.report(Moment.decision(6), outcome, Moment.job("a")));
        assertThat(moment.jobState("a").changing()).as("another decision").isPresent();
        moment.observe(moment.report(EARLIER, outcome, Moment.service("a")));
        moment.observe(moment.report(EARLIER, outcome, Optional.empty()));
        assertThat(moment.jobState("a").changing()).as("not of the job").isPresent();

        moment.observe(moment.report(EARLIER, outcome, Moment.job("a")));
        assertThat(moment.jobState("a").changing().isEmpty()).isEqualTo(settles);
    }

    @ParameterizedTest
    @CsvSource({"APPLIED, 17", "FAILED, 24", "TIMED_OUT, 24"})
    void onlyTheMeasuredPauseOfAChangeThatIsInForceCounts(Outcome outcome, long seconds) {
        changing();
        ActuationReport plain = moment.report(EARLIER, outcome, Moment.job("a"));

        moment.observe(new ActuationReport(
                plain.domain(),
                plain.decision(),
                plain.actuator(),
                plain.at(),
                outcome,
                List.of(),
                plain.tenant(),
                plain.timings().pausing(Optional.of(ofSeconds(10))),
                ""));

        assertThat(moment.jobState("a").costs()).isEqualTo(new RescaleCosts(ofSeconds(seconds), ofSeconds(3)));
    }

    @Test
    void stockOfAUnitThatIsComingOrGoingChangesNothing() {
        moment.owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0")
                .owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "train-g1")
                .owned(quarantined("for the test"), "infer-g0")
                .later(ofSeconds(1));
        ClusterState before = moment.state();

        moment.observe(
                moment.report(EARLIER, Outcome.HOLDS, Moment.service("chat"), "train-g0", "train-g1", "infer-g0"));

        assertThat(moment.state().gpus()).isEqualTo(before.gpus());
    }

    @Test
    void whatRunsOnAFreeGpuPutsItOutOfServiceUnlessThatWasSeenBeforeItWasFree() {
        ActuationReport atOnce = moment.report(EARLIER, Outcome.HOLDS, Moment.job("a"), "train-g0");
        assertThat(reported(atOnce, "train-g0")).isEqualTo(new Owner.Free());
        moment.later(ofMillis(1));

        assertThat(reported(moment.report(EARLIER, Outcome.HOLDS, Moment.job("a"), "train-g0"), "train-g0"))
                .isEqualTo(
                        quarantined(
                                "actuator agent-1 finds job a running on it, where nothing was decided; stop what should not run there, then reset it"));
    }

    @Test
    void onlyTheActuatorThatBoundAUnitCanSayThatNothingRunsThere() {
        moment.owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0")
                .observe(moment.report(EARLIER, Outcome.BOUND, Moment.job("a"), "train-g0"))
                .owned(Moment.training("a"), "train-g1")
                .later(ofSeconds(1));

        StepBuilder other = moment.observed(moment.report(EARLIER, Outcome.HOLDS, Optional.empty(), "train-g1"));
        StepBuilder own = moment.observed(moment.report(EARLIER, Outcome.HOLDS, Optional.empty(), "train-g0"));

        assertThat(other.gpu(new GpuId("train-g1")).owner()).isEqualTo(Moment.training("a"));
        assertThat(other.changesPlans()).isFalse();
        assertThat(own.gpu(new GpuId("train-g0")).owner()).isEqualTo(new Owner.Free());
        assertThat(own.changesPlans()).isTrue();
    }

    @Test
    void aFreeInstanceThatIsOfAnotherSizeNowUpsetsThePlan() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0");
        Moment recut = new Moment().migNode("cut", Pool.INFERENCE, "4g.40gb@0");

        StepBuilder builder =
                moment.observed(recut.state().nodes().require(new NodeId("cut")).node());

        assertThat(builder.gpu(new GpuId("cut-g0/0:4")).owner()).isEqualTo(new Owner.Free());
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void aJobThatIsOverIsNotToldMore() {
        moment.job("a", 2).progress("a", JobPhase.FINISHED).later(ofSeconds(5));
        ClusterState before = moment.state();

        moment.progress("a", JobPhase.RUNNING);

        assertThat(moment.state().jobs()).isEqualTo(before.jobs());
        assertThat(moment.jobState("a").phase()).isEqualTo(JobPhase.FINISHED);
    }

    @Test
    void everyRecordKeepsTheEventThatBroughtIt() {
        moment.job("a", 2);
        assertThat(moment.jobState("a").lastEvent()).isEqualTo(moment.state().eventSequence());
        moment.progress("a", JobPhase.RUNNING);
        assertThat(moment.jobState("a").lastEvent()).isEqualTo(moment.state().eventSequence());
        moment.job("a", 3);
        assertThat(moment.jobState("a").lastEvent()).isEqualTo(moment.state().eventSequence());
        assertThat(moment.jobState("a").spec().scaling().maxGpus()).isEqualTo(3);
        assertThat(moment.jobState("a").phase()).as("of the job as it is").isEqualTo(JobPhase.RUNNING);
        moment.rate("chat", 5);
        assertThat(moment.serviceState("chat").rateEvents())
                .containsExactly(moment.state().eventSequence());
        moment.node("third", Pool.INFERENCE, 1);
        assertThat(moment.gpu("third-g0").changedBy()).isEqualTo(moment.state().eventSequence());
    }

    private DemandForecast forecast(Instant issued) {
        return new DemandForecast(
                new ServiceId("chat"),
                DOMAIN,
                issued,
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(ofMinutes(10), 0, 5, 10, issued.equals(NOW) ? 20 : 30)),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void onlyALaterForecastReplacesOne() {
        moment.observe(forecast(NOW));
        long first = moment.state().eventSequence();
        moment.observe(forecast(NOW));
        assertThat(moment.serviceState("chat").forecastEvent()).isEqualTo(first);

        moment.observe(forecast(NOW.plusMillis(1)));

        assertThat(moment.serviceState("chat").forecastEvent()).isEqualTo(first + 2);
        assertThat(moment.serviceState("chat").forecast()).contains(forecast(NOW.plusMillis(1)));
    }

    @Test
    void aServiceThatIsDescribedAgainKeepsItsDemand() {
        moment.rate("chat", 5).service("chat", 3);

        assertThat(moment.serviceState("chat").arrivalsPerSecond()).isEqualTo(5);
        assertThat(moment.serviceState("chat").spec().floorReplicas()).isEqualTo(3);
    }

    @Test
    void aSchedulerThatTakesOverBeginsItsEpoch() {
        moment.observe(new SchedulerStarted(DOMAIN, NOW, 4, "deepboot", Map.of(), Optional.empty()));

        assertThat(moment.state().epoch()).isEqualTo(4);
    }

    private void xid(String gpu, int xid, long sequence) {
        GpuSample sample = GpuSample.of(new GpuId(gpu)).lastXid(xid).build();
        moment.observe(new GpuTelemetry(new NodeId("infer"), DOMAIN, "boot-1", sequence, NOW, List.of(sample)));
    }

    @ParameterizedTest
    @ValueSource(ints = {48, 64, 74, 79, 94, 95})
    void aFatalErrorPutsAGpuOutOfService(int xid) {
        xid("infer-g0", xid, 1);

        assertThat(moment.owner("infer-g0")).isEqualTo(quarantined("XID " + xid));
        assertThat(moment.gpu("infer-g0").lastXid()).contains(xid);
        assertThat(moment.owner("infer-g1")).isEqualTo(new Owner.Free());
    }

    @Test
    void anErrorOfAProgramIsKnownAndHarmless() {
        xid("infer-g0", 13, 1);

        assertThat(moment.owner("infer-g0")).isEqualTo(new Owner.Free());
        assertThat(moment.gpu("infer-g0").lastXid()).contains(13);
    }

    @Test
    void aSampleThatComesAgainTellsOfNoError() {
        xid("infer-g0", 13, 2);
        xid("infer-g0", 79, 2);
        assertThat(moment.owner("infer-g0")).isEqualTo(new Owner.Free());

        xid("infer-g0", 79, 3);
        assertThat(moment.owner("infer-g0")).isEqualTo(quarantined("XID 79"));
    }

    @Test
    void theFirstReasonWhyAGpuIsOutOfServiceStands() {
        moment.owned(quarantined("for the test"), "infer-g0");

        xid("infer-g0", 79, 1);

        assertThat(moment.owner("infer-g0")).isEqualTo(quarantined("for the test"));
    }

    @Test
    void whereANodeLeftWhatIsFreeGoesAndWhatIsHeldIsOutOfService() {
        moment.owned(Moment.serving("chat"), "infer-g0");

        moment.observe(new NodeLeft(new NodeId("infer"), DOMAIN, NOW));

        assertThat(moment.state().nodes().get(new NodeId("infer"))).isEmpty();
        assertThat(moment.state().gpus().get(new GpuId("infer-g1"))).isEmpty();
        assertThat(moment.owner("infer-g0")).isEqualTo(quarantined("its node left"));
        assertThat(moment.owner("train-g0")).isEqualTo(new Owner.Free());
    }

    @Test
    void whatANodeNoLongerReportsIsForgottenOrOutOfService() {
        moment.node("many", Pool.INFERENCE, 4)
                .owned(Moment.serving("chat"), "many-g1")
                .owned(quarantined("for the test"), "many-g2");

        moment.node("many", Pool.INFERENCE, 1);

        assertThat(moment.owner("many-g0")).isEqualTo(new Owner.Free());
        assertThat(moment.owner("many-g1")).isEqualTo(quarantined("its node no longer reports it"));
        assertThat(moment.owner("many-g2")).isEqualTo(quarantined("for the test"));
        assertThat(moment.state().gpus().get(new GpuId("many-g3"))).isEmpty();
    }

    @Test
    void aGpuThatIsReportedAgainStaysAsItIs() {
        moment.owned(Moment.serving("chat"), "infer-g0");
        GpuState before = moment.gpu("infer-g0");

        moment.later(ofSeconds(5)).node("infer", Pool.INFERENCE, 2);

        assertThat(moment.gpu("infer-g0")).isEqualTo(before);
    }

    @Test
    void aGpuThatJoinsUpsetsThePlan() {
        moment.node("other", Pool.INFERENCE, 1);
        StepBuilder same = moment.observed(
                moment.state().nodes().require(new NodeId("other")).node());
        assertThat(same.changesPlans()).isFalse();

        StepBuilder more = moment.after(ofSeconds(5));
        new EventApplier(more, Policies.parse("deepboot"), SchedulerSettings.DEFAULTS)
                .take(new Moment()
                        .node("other", Pool.INFERENCE, 2)
                        .state()
                        .nodes()
                        .require(new NodeId("other"))
                        .node());

        assertThat(more.changesPlans()).isTrue();
        assertThat(more.gpu(new GpuId("other-g1")).since()).isEqualTo(NOW.plusSeconds(5));
    }

    @Test
    void anInstanceWithTheSamePlaceThatIsOfAnotherSizeIsOutOfServiceWhereItIsUsed() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0", "3g.40gb@0").owned(Moment.serving("chat"), "cut-g0/0:4");
        StepBuilder builder = moment.observed(new Moment()
                .migNode("cut", Pool.INFERENCE, "4g.40gb@0", "4g.40gb@0")
                .state()
                .nodes()
                .require(new NodeId("cut"))
                .node());

        assertThat(builder.gpu(new GpuId("cut-g0/0:4")).owner())
                .isEqualTo(quarantined("the cut of its GPU changed while it was serving"));
        assertThat(builder.gpu(new GpuId("cut-g0/0:4")).instance().orElseThrow().profile())
                .isEqualTo("4g.40gb");
        assertThat(builder.gpu(new GpuId("cut-g1/0:4")).owner()).isEqualTo(new Owner.Free());
        assertThat(builder.gpu(new GpuId("cut-g1/0:4")).instance().orElseThrow().profile())
                .isEqualTo("4g.40gb");
        assertThat(builder.changesPlans()).isTrue();
    }

    @Test
    void anInstanceThatIsNoLongerReportedIsForgottenThoughItWasOutOfService() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4").owned(quarantined("for the test"), "cut-g0/0:4");

        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@4");

        assertThat(moment.state().gpus().get(new GpuId("cut-g0/0:4"))).isEmpty();
        assertThat(moment.owner("cut-g0/4:4")).isEqualTo(new Owner.Free());
    }

    @Test
    void aResetBringsAGpuBackAndForgetsItsFailures() {
        moment.owned(quarantined("for the test"), "infer-g0")
                .set(builder -> builder.put(builder.gpu(new GpuId("infer-g0")).withFailedBinds(2)))
                .owned(Moment.serving("chat"), "infer-g1");

        moment.control(ControlCommand.Kind.RESET, "infer-g0", "infer-g1", "unknown-g0");

        assertThat(moment.owner("infer-g0")).isEqualTo(new Owner.Free());
        assertThat(moment.gpu("infer-g0").failedBinds()).isZero();
        assertThat(moment.owner("infer-g1")).isEqualTo(Moment.serving("chat"));
    }

    @Test
    void gpusFollowTheirNodeToAnotherPoolOnceTheyAreFree() {
        moment.owned(Moment.training("a"), "train-g0");

        moment.node("train", Pool.INFERENCE, 2);

        assertThat(moment.gpu("train-g0").pool()).isEqualTo(Pool.TRAINING);
        assertThat(moment.gpu("train-g1").pool()).isEqualTo(Pool.INFERENCE);
        moment.owned(new Owner.Free(), "train-g0");
        assertThat(moment.gpu("train-g0").pool()).isEqualTo(Pool.INFERENCE);
    }

    @Test
    void aResetForgetsAGpuOfANodeThatHasLeft() {
        moment.owned(Moment.serving("chat"), "infer-g0");
        moment.observe(new NodeLeft(new NodeId("infer"), DOMAIN, NOW));
        assertThat(moment.owner("infer-g0")).isEqualTo(quarantined("its node left"));

        moment.control(ControlCommand.Kind.RESET, "infer-g0");

        assertThat(moment.state().gpus().get(new GpuId("infer-g0"))).isEmpty();
    }

    @Test
    void aResetBringsAnInstanceBackOnlyWhereItsNodeReportsIt() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4", "3g.40gb@0")
                .owned(Moment.serving("chat"), "cut-g0/0:4", "cut-g0/4:4")
                .migNode("cut", Pool.INFERENCE, "3g.40gb@4", "3g.40gb@0")
                .owned(quarantined("for the test"), "cut-g0/4:4");
        assertThat(moment.owner("cut-g0/0:4")).isEqualTo(quarantined("its node no longer reports it"));

        moment.control(ControlCommand.Kind.RESET, "cut-g0/0:4", "cut-g0/4:4");

        assertThat(moment.state().gpus().get(new GpuId("cut-g0/0:4"))).isEmpty();
        assertThat(moment.owner("cut-g0/4:4")).isEqualTo(new Owner.Free());
    }

    /** A GPU of two instances that become one: the one that is coming is not reported yet. */
    private void recutting() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4");
        GpuState whole =
                new Moment().migNode("cut", Pool.INFERENCE, "7g.80gb@0").gpu("cut-g0/0:8");
        moment.set(builder -> builder.add(whole))
                .owned(new Owner.Recutting(EARLIER, NOW.plusSeconds(120), false), "cut-g0/0:4", "cut-g0/4:4")
                .owned(new Owner.Recutting(EARLIER, NOW.plusSeconds(120), true), "cut-g0/0:8");
    }

    @Test
    void theNewCutOfAGpuIsDoneWhenItsNodeReportsTheNewInstances() {
        recutting();
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4");
        assertThat(moment.owner("cut-g0/0:4")).as("an inventory from before").isInstanceOf(Owner.Recutting.class);
        assertThat(moment.owner("cut-g0/0:8")).isInstanceOf(Owner.Recutting.class);

        moment.migNode("cut", Pool.INFERENCE, "7g.80gb@0");

        assertThat(moment.owner("cut-g0/0:8")).isEqualTo(new Owner.Free());
        assertThat(moment.state().gpus().get(new GpuId("cut-g0/0:4"))).isEmpty();
        assertThat(moment.state().gpus().get(new GpuId("cut-g0/4:4"))).isEmpty();
    }

    @Test
    void anInstanceOfAnotherSizeAtTheSamePlaceIsNotTheOneThatIsComing() {
        moment.migNode("cut", Pool.INFERENCE, "");
        GpuState coming =
                new Moment().migNode("cut", Pool.INFERENCE, "4g.40gb@0").gpu("cut-g0/0:4");
        moment.set(builder -> builder.add(coming))
                .owned(new Owner.Recutting(EARLIER, NOW.plusSeconds(120), true), "cut-g0/0:4");

        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0");
        assertThat(moment.owner("cut-g0/0:4")).isInstanceOf(Owner.Recutting.class);

        moment.migNode("cut", Pool.INFERENCE, "4g.40gb@0");
        assertThat(moment.owner("cut-g0/0:4")).isEqualTo(new Owner.Free());
    }

    @ParameterizedTest
    @EnumSource(
            value = Outcome.class,
            names = {"REJECTED", "FAILED"})
    void aCutThatIsNotMadeLeavesTheGpuAsItsNodeReportedItAndNothingIsCutForAMinute(Outcome outcome) {
        recutting();
        SlicePlan plan = new SlicePlan(NOW, "A100", List.of(), List.of(), 0, NOW, NOW, "for the test");
        moment.set(builder -> builder.slices(plan)).later(ofSeconds(5));
        moment.observe(moment.report(Moment.decision(8), outcome, Optional.empty()));
        assertThat(moment.owner("cut-g0/0:8")).as("another decision").isInstanceOf(Owner.Recutting.class);
        assertThat(moment.state().slices()).contains(plan);

        moment.observe(moment.report(EARLIER, outcome, Optional.empty()));

        assertThat(moment.state().gpus().get(new GpuId("cut-g0/0:8"))).isEmpty();
        assertThat(moment.owner("cut-g0/0:4")).isEqualTo(new Owner.Free());
        assertThat(moment.owner("cut-g0/4:4")).isEqualTo(new Owner.Free());
        assertThat(moment.state().slices()).contains(plan.cuttingFrom(NOW.plusSeconds(65)));
    }

    @Test
    void theRefusalOfAnActuatorOfOtherNodesDoesNotEndACut() {
        recutting();
        moment.observe(new ActuatorDescription(
                "agent-1", DOMAIN, NOW, "simulated", List.of(new NodeId("other")), Abilities.USUAL));

        moment.observe(moment.report(EARLIER, Outcome.REJECTED, Optional.empty()));

        assertThat(moment.owner("cut-g0/0:8")).isInstanceOf(Owner.Recutting.class);
    }

    @Test
    void otherReportsDoNotEndACut() {
        recutting();

        moment.observe(moment.report(EARLIER, Outcome.APPLIED, Optional.empty()));

        assertThat(moment.owner("cut-g0/0:8")).isInstanceOf(Owner.Recutting.class);
    }

    @Test
    void aNodeThatIsNotReadyIsNotAskedWhatItNoLongerHas() {
        moment.status("infer", NodeStatus.UNAVAILABLE);

        assertThat(moment.state().gpus().get(new GpuId("infer-g0"))).isPresent();
        assertThat(moment.state().nodes().require(new NodeId("infer")).node().status())
                .isEqualTo(NodeStatus.UNAVAILABLE);
    }

    @ParameterizedTest
    @CsvSource({
        "FREEZE,       false, true,  true,  true,  true,  true",
        "THAW,         true,  true,  true,  false, true,  false",
        "ADVISORY_ON,  true,  false, true,  true,  true,  true",
        "ADVISORY_OFF, true,  true,  true,  true,  false, true",
        "RECLAIM_ALL,  true,  true,  false, true,  true,  true",
        "FREEZE,       false, false, false, true,  false, false",
        "THAW,         true,  false, true,  false, false, false",
        "ADVISORY_ON,  false, false, false, false, true,  false",
        "ADVISORY_OFF, false, true,  false, false, false, false",
        "RECLAIM_ALL,  false, false, false, false, false, true",
        "UNKNOWN,      true,  false, true,  true,  false, true",
    })
    void anOrderChangesOneModeAndThawTakesBackReclaimAllToo(
            ControlCommand.Kind kind,
            boolean frozen,
            boolean advisory,
            boolean stopped,
            boolean isFrozen,
            boolean isAdvisory,
            boolean isStopped) {
        moment.set(builder -> builder.mode(new Mode(frozen, advisory, stopped)));

        moment.control(kind);

        assertThat(moment.state().mode()).isEqualTo(new Mode(isFrozen, isAdvisory, isStopped));
    }

    private RequestRate batches() {
        return moment.rateOf("chat", 5, ofSeconds(15), Optional.empty())
                .with(List.of(new BatchTimes(Optional.of("3g.40gb"), 4, 0, 10, 20.0)));
    }

    @Test
    void batchesCountWhereItIsKnownWhatTheyRanOn() {
        moment.migNode("cut", Pool.INFERENCE, "3g.40gb@0");
        moment.observe(batches());
        assertThat(moment.serviceState("chat").batches()).as("nothing serves").isEmpty();
        assertThat(moment.serviceState("chat").arrivalsPerSecond()).isEqualTo(5);

        moment.owned(Moment.serving("chat"), "cut-g0/0:4").rate("chat", 5);
        assertThat(moment.serviceState("chat").batches()).as("no batches").isEmpty();
        moment.observe(batches());

        assertThat(moment.serviceState("chat").batches()).hasValueSatisfying(known -> {
            assertThat(known.gpu()).isEqualTo("A100-80GB");
            assertThat(known.learned().bins()).isNotEmpty();
        });
    }
}
