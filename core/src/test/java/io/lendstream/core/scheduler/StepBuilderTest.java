package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.gpus;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a step has changed, and what follows from that for the rest of it. */
class StepBuilderTest {
    private static final Reason REASON = new Reason("test", "for the test", Map.of(), List.of());
    private static final Action HOLD = new Action.Hold(Optional.empty(), Optional.empty());

    private final Moment moment = new Moment()
            .node("infer", Pool.INFERENCE, 2)
            .node("train", Pool.TRAINING, 2)
            .service("chat", 1)
            .job("a", 2);

    private StepBuilder draft(Event event) {
        return moment.draft(event, StepListener.NONE);
    }

    private StepBuilder draft() {
        return moment.after(Duration.ZERO);
    }

    @Test
    void timeDoesNotGoBackForALateEvent() {
        moment.later(ofSeconds(10)).rate("chat", 5);

        assertThat(draft(new Tick(DOMAIN, NOW)).now()).isEqualTo(NOW.plusSeconds(10));
        assertThat(draft(new Tick(DOMAIN, NOW.plusSeconds(11))).now()).isEqualTo(NOW.plusSeconds(11));
        assertThat(draft(new Tick(DOMAIN, NOW.plusSeconds(11))).before().now()).isEqualTo(NOW.plusSeconds(10));
    }

    @Test
    void aStepKnowsWhatKindOfEventItIsMadeOf() {
        StepBuilder tick = draft();
        StepBuilder report = draft(moment.report(EARLIER, Outcome.APPLIED, Optional.empty()));
        StepBuilder rate = draft(moment.rateOf("chat", 5, ofSeconds(15), Optional.empty()));
        StepBuilder forecast = draft(new DemandForecast(
                new ServiceId("chat"),
                DOMAIN,
                NOW,
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(ofMinutes(10), 0, 1, 2, 3)),
                Optional.empty(),
                Optional.empty()));

        assertThat(List.of(tick, report, rate, forecast))
                .extracting(step -> step.event().isTick())
                .containsExactly(true, false, false, false);
        assertThat(List.of(tick, report, rate, forecast))
                .extracting(step -> step.event().asReport().isPresent())
                .containsExactly(false, true, false, false);
        assertThat(List.of(tick, report)).extracting(StepBuilder::heard).containsOnly(Optional.empty());
        assertThat(List.of(rate, forecast))
                .extracting(StepBuilder::heard)
                .containsOnly(Optional.of(moment.serviceState("chat")));
        assertThat(draft(moment.rateOf("unknown", 5, ofSeconds(15), Optional.empty()))
                        .heard())
                .isEmpty();
    }

    @Test
    void nothingIsBoundOrCutThatIsNotFree() {
        StepBuilder builder = moment.owned(Moment.training("a"), "train-g0").after(Duration.ZERO);

        assertThatThrownBy(
                        () -> builder.own(new GpuId("train-g0"), Moment.binding(Moment.service("chat"), ofSeconds(16))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("train-g0 must be free before it is bound or recut, but is Training[job=a]");
        assertThatThrownBy(() ->
                        builder.own(new GpuId("train-g0"), new Owner.Recutting(EARLIER, NOW.plusSeconds(60), true)))
                .hasMessageStartingWith("train-g0 must be free before it is bound or recut");
    }

    @Test
    void aChangeOfOwnerIsKnownWithItsTimeAndItsEvent() {
        StepBuilder builder = moment.after(ofSeconds(5));

        builder.own(new GpuId("infer-g0"), Moment.serving("chat"));

        GpuState gpu = builder.gpu(new GpuId("infer-g0"));
        assertThat(gpu.since()).isEqualTo(NOW.plusSeconds(5));
        assertThat(gpu.changedBy()).isEqualTo(moment.state().eventSequence() + 1);
        assertThat(builder.eventSequence()).isEqualTo(gpu.changedBy());
        assertThat(builder.matters()).isTrue();
        assertThat(builder.finished().changed().owners()).containsExactly(new GpuId("infer-g0"));
        assertThat(builder.finished().changed().gpus()).containsExactly(new GpuId("infer-g0"));
    }

    @Test
    void anOwnerThatGetsMoreTimeHasHeldTheGpuSinceBefore() {
        moment.owned(Moment.lent("a", ofMinutes(10)), "infer-g0").later(ofSeconds(5));
        StepBuilder builder = draft();

        builder.extend(new GpuId("infer-g0"), Moment.lent("a", ofMinutes(15)));

        GpuState gpu = builder.gpu(new GpuId("infer-g0"));
        assertThat(gpu.owner()).isEqualTo(Moment.lent("a", ofMinutes(15)));
        assertThat(gpu.since()).isEqualTo(NOW);
        assertThat(gpu.changedBy()).isEqualTo(builder.eventSequence());
        assertThat(builder.finished().changed().owners()).containsExactly(new GpuId("infer-g0"));
        assertThat(builder.changesPlans()).isFalse();
    }

    /** Owners by a letter: free, of the jobs a and b, of a service, out of service. */
    private static Owner owner(char kind) {
        return switch (kind) {
            case 'f' -> new Owner.Free();
            case 'a' -> Moment.training("a");
            case 'b' -> Moment.training("b");
            case 's' -> Moment.serving("chat");
            default -> new Owner.Quarantined("for the test");
        };
    }

    @ParameterizedTest
    @CsvSource({
        "f, a, false",
        "a, b, false",
        "b, f, false",
        "f, s, true",
        "s, f, true",
        "a, s, true",
        "s, a, true",
        "a, q, true",
        "q, f, true"
    })
    void onlyAnOwnerThatIsNeitherFreeNorAJobChangesPlans(char from, char to, boolean changes) {
        StepBuilder builder = moment.owned(owner(from), "infer-g0").after(Duration.ZERO);

        builder.own(new GpuId("infer-g0"), owner(to));

        assertThat(builder.changesPlans()).isEqualTo(changes);
        assertThat(builder.matters()).isTrue();
    }

    @Test
    void aMigInstanceThatAJobLeavesChangesPlans() {
        MigInstance instance = new MigInstance(new GpuId("infer-g0"), "1g.10gb", 0, 1, 10L << 30, 0.125);
        GpuId unit = new GpuId("infer-g0/0:1");
        moment.set(builder ->
                builder.put(GpuState.free(unit, new NodeId("infer"), Pool.INFERENCE, Optional.of(instance), NOW, 0)));

        StepBuilder lent = draft();
        lent.own(unit, owner('a'));
        assertThat(lent.changesPlans()).isFalse();

        StepBuilder left = moment.owned(owner('a'), "infer-g0/0:1").after(Duration.ZERO);
        left.own(unit, owner('f'));
        assertThat(left.changesPlans()).isTrue();
    }

    @Test
    void aNodeChangesPlansWhereItIsNewOrSaysSomethingElseOfItself() {
        moment.sampled("infer");
        assertThat(moment.observed(moment.state()
                                .nodes()
                                .require(new NodeId("infer"))
                                .node())
                        .changesPlans())
                .isFalse();

        StepBuilder paused = draft();
        var known = moment.state().nodes().require(new NodeId("infer"));
        paused.put(known.describedBy(new Moment()
                .node("infer", Pool.INFERENCE, 2)
                .status("infer", NodeStatus.PAUSED)
                .state()
                .nodes()
                .require(new NodeId("infer"))
                .node()));
        assertThat(paused.changesPlans()).isTrue();
        assertThat(paused.finished().changed().nodes()).containsExactly(new NodeId("infer"));

        StepBuilder added = draft();
        added.put(new Moment().node("new", Pool.INFERENCE, 1).state().nodes().require(new NodeId("new")));
        assertThat(added.changesPlans()).isTrue();
    }

    @Test
    void aNodeThatGoesIsNoLongerKnownToTheAgendaOfTheHeard() {
        moment.sampled("infer", "train");
        StepBuilder builder = draft();

        builder.remove(new NodeId("infer"));

        assertThat(builder.nodes().get(new NodeId("infer"))).isEmpty();
        assertThat(builder.clusterIndex().heard().size()).isEqualTo(1);
        assertThat(builder.finished().changed().nodes()).containsExactly(new NodeId("infer"));
    }

    @Test
    void aUnitThatComesOrGoesChangesPlans() {
        StepBuilder added = draft();
        added.add(new Moment().node("new", Pool.INFERENCE, 1).gpu("new-g0"));
        assertThat(added.changesPlans()).isTrue();
        assertThat(added.finished().changed().owners()).containsExactly(new GpuId("new-g0"));

        StepBuilder removed = draft();
        removed.remove(new GpuId("infer-g0"));
        assertThat(removed.changesPlans()).isTrue();
        assertThat(removed.clusterIndex().gpus().free().size()).isEqualTo(3);
        assertThat(removed.finished().changed().owners()).containsExactly(new GpuId("infer-g0"));
        assertThat(removed.finished().changed().gpus()).containsExactly(new GpuId("infer-g0"));
    }

    private StepBuilder put(JobState job) {
        StepBuilder builder = draft();
        builder.put(job);
        assertThat(builder.finished().changed().jobs())
                .containsExactly(job.spec().job());
        return builder;
    }

    @Test
    void aJobChangesPlansWhereItIsNewOverOrDescribedOtherwise() {
        moment.progress("a", JobPhase.RUNNING);
        JobState job = moment.jobState("a");
        Moment others = new Moment().job("a", 3).job("b", 1);

        assertThat(put(job).changesPlans()).isFalse();
        assertThat(put(job.described(others.jobState("a").spec(), 9)).changesPlans())
                .isTrue();
        assertThat(put(others.jobState("b")).changesPlans()).isTrue();
        moment.progress("a", JobPhase.FINISHED);
        assertThat(put(job).changesPlans()).as("over no longer").isTrue();
        assertThat(put(moment.jobState("a")).changesPlans()).isFalse();
    }

    @Test
    void aJobWhoseChangeIsInForceMattersAndChangesNoPlans() {
        moment.changing("a", NOW.plusSeconds(50), "train-g0");
        JobState changing = moment.jobState("a");
        assertThat(put(changing).matters()).isFalse();

        StepBuilder settled = put(changing.settled(Optional.empty()));

        assertThat(settled.matters()).isTrue();
        assertThat(settled.changesPlans()).isFalse();
        moment.kept(settled);
        assertThat(put(moment.jobState("a")).matters()).as("settled before").isFalse();
    }

    @Test
    void jobsThatAreTouchedAreThoseChangedAndThoseWhoseGpusAre() {
        moment.job("b", 1)
                .job("c", 1)
                .owned(Moment.training("b"), "train-g0")
                .owned(Moment.training("ghost"), "train-g1")
                .owned(Moment.serving("chat"), "infer-g0");
        StepBuilder builder = draft();
        assertThat(builder.changes().touchedJobs(builder.before().gpus(), builder.jobs()))
                .isEmpty();

        builder.own(new GpuId("train-g0"), new Owner.Free());
        builder.own(new GpuId("train-g1"), new Owner.Free());
        builder.own(new GpuId("infer-g0"), new Owner.Free());
        builder.put(builder.jobs().require(new JobId("a")));

        assertThat(builder.changes().touchedJobs(builder.before().gpus(), builder.jobs()))
                .extracting(job -> job.spec().job())
                .containsExactly(new JobId("a"), new JobId("b"));
    }

    @Test
    void aJobThatIsForgottenIsChanged() {
        StepBuilder builder = draft();

        builder.remove(new JobId("a"));

        assertThat(builder.jobs().get(new JobId("a"))).isEmpty();
        assertThat(builder.clusterIndex().jobs().open().isEmpty()).isTrue();
        assertThat(builder.finished().changed().jobs()).containsExactly(new JobId("a"));
    }

    @Test
    void onlyNodesThatAreReadyCanBeReached() {
        moment.node("away", Pool.INFERENCE, 2)
                .status("away", NodeStatus.PAUSED)
                .node("beyond", Pool.INFERENCE, 1)
                .set(builder -> builder.remove(new NodeId("beyond")));
        StepBuilder builder = draft();

        assertThat(builder.isReachable(new NodeId("infer"))).isTrue();
        assertThat(builder.isReachable(new NodeId("away"))).isFalse();
        assertThat(builder.isReachable(new NodeId("beyond"))).isFalse();
        assertThat(builder.isReachable(moment.gpu("infer-g1"))).isTrue();
        assertThat(builder.isReachable(moment.gpu("away-g0"))).isFalse();
        assertThat(new UnitsByNode(builder).usable())
                .extracting(GpuState::gpuId)
                .isEqualTo(gpus("infer-g0", "infer-g1", "train-g0", "train-g1"));
    }

    @Test
    void whatThisStepHasFreedCountsForItsPool() {
        moment.owned(Moment.serving("chat"), "infer-g0", "infer-g1");
        StepBuilder builder = draft();
        assertThat(builder.changes().hasFreed(Pool.INFERENCE, builder.gpus())).isFalse();
        builder.own(new GpuId("infer-g0"), Moment.sleeping("chat"));
        assertThat(builder.changes().hasFreed(Pool.INFERENCE, builder.gpus())).isFalse();

        builder.own(new GpuId("infer-g1"), new Owner.Free());

        assertThat(builder.changes().hasFreed(Pool.INFERENCE, builder.gpus())).isTrue();
        assertThat(builder.changes().hasFreed(Pool.TRAINING, builder.gpus())).isFalse();
    }

    @Test
    void loansBeforeThisStepCountWhereAllNodesCanBeReached() {
        StepBuilder builder = draft();
        builder.own(new GpuId("infer-g0"), Moment.lent("a", ofMinutes(10)));
        assertThat(WorkDue.hadLoans(builder)).isFalse();
        moment.kept(builder);
        assertThat(WorkDue.hadLoans(draft())).isTrue();

        moment.status("train", NodeStatus.PAUSED);
        assertThat(WorkDue.hadLoans(draft())).isFalse();
    }

    @Test
    void unitsThatServicesAreAboutToTakeAreKnownUntilTheEndOfTheStep() {
        StepBuilder builder = draft();
        assertThat(builder.awaited()).isEmpty();

        builder.await(Set.of(new GpuId("infer-g0")));

        assertThat(builder.awaited()).containsExactly(new GpuId("infer-g0"));
    }

    @Test
    void aReasonRestsOnThePresentEventAndOnOthersEachOnce() {
        StepBuilder builder = draft();
        long present = builder.eventSequence();

        Reason reason = builder.because(ReasonCode.LOST, "text", Map.of("n", 1.0), List.of(3L, 0L, 2L, 3L, present));

        assertThat(reason).isEqualTo(new Reason("lost", "text", Map.of("n", 1.0), List.of(2L, 3L, present)));
    }

    @Test
    void decisionsAreNumberedOnAndAreMeantUnlessTheDomainIsOnlyAdvised() {
        moment.set(builder -> builder.epoch(3));
        StepBuilder first = draft();
        first.decide(NOW.plusSeconds(1), REASON, HOLD);
        moment.kept(first).set(builder -> builder.mode(new Mode(false, true, false)));
        StepBuilder builder = moment.after(ofSeconds(2));

        builder.decide(NOW.plusSeconds(3), REASON, HOLD);
        builder.binding(true);
        builder.decide(NOW.plusSeconds(4), REASON, HOLD);

        assertThat(first.finished().decisions())
                .extracting(Decision::id, Decision::advisory)
                .containsExactly(tuple(DecisionId.parse("test/3/1"), false));
        assertThat(builder.finished().decisions())
                .extracting(Decision::id, Decision::advisory)
                .containsExactly(tuple(DecisionId.parse("test/3/2"), true), tuple(DecisionId.parse("test/3/3"), false));
        assertThat(builder.finished().decisions().get(1))
                .returns(NOW.plusSeconds(2), Decision::at)
                .returns(NOW.plusSeconds(4), Decision::deadline);
        assertThat(builder.finished().state().decisionSequence()).isEqualTo(3);
    }

    @Test
    void adviceIsForgottenWhenDecisionsAreMeantAgain() {
        StepBuilder advised = draft();
        advised.mode(new Mode(false, true, false));
        advised.decide(NOW, REASON, HOLD);
        advised.nextPlanAt(NOW.plusSeconds(60));
        StepBuilder observed = draft();
        observed.mode(new Mode(false, true, false));
        moment.kept(observed);
        Step step = advised.advised(observed.finished(), true);

        assertThat(advised.changesPlans()).isTrue();
        assertThat(step.decisions()).hasSize(1).allMatch(Decision::advisory);
        assertThat(step.state().advice()).contains(new Advice(step.decisions()));
        assertThat(step.state().nextPlanAt()).contains(NOW.plusSeconds(60));
        assertThat(step.state().decisionSequence()).isEqualTo(1);
        StepBuilder frozen = new StepBuilder(step.state(), moment.logged(new Tick(DOMAIN, NOW)), StepListener.NONE);
        frozen.mode(new Mode(true, true, false));
        assertThat(frozen.advice()).isPresent();
        frozen.mode(new Mode(true, false, false));
        assertThat(frozen.advice()).isEmpty();
    }

    @Test
    void adviceIsGivenOnlyWhereAPlanWasMade() {
        moment.set(builder -> builder.nextPlanAt(NOW.plusSeconds(60)));
        StepBuilder advice = draft();
        advice.own(new GpuId("infer-g0"), Moment.serving("chat"));
        advice.decide(NOW, REASON, HOLD);

        Step step = advice.advised(draft().finished(), true);

        assertThat(step.decisions()).isEmpty();
        assertThat(step.state().advice()).isEmpty();
        assertThat(step.state().decisionSequence()).isZero();
        assertThat(step.state().gpus())
                .as("nothing of the advice")
                .isEqualTo(moment.state().gpus());
        assertThat(step.changed().owners()).isEmpty();
    }

    @Test
    void adviceThatAPlanRepeatsKeepsItsIdAndTheRestIsWithdrawn() {
        Action serve = new Action.Serve(new ServiceId("chat"), gpus("infer-g0"), false);
        Action renewal = new Action.Renew(gpus("infer-g1"), NOW.plusSeconds(600));
        Step first = advised(0, true, HOLD, serve);

        Step partial = advised(60, false, renewal);
        Step second = advised(120, true, renewal, serve);
        Step same = advised(180, true, renewal, serve);

        assertThat(ids(first.decisions())).containsExactly("test/0/1", "test/0/2");
        assertThat(ids(partial.decisions())).containsExactly("test/0/3");
        assertThat(ids(advice(partial))).containsExactly("test/0/1", "test/0/2", "test/0/3");
        assertThat(second.decisions()).isEmpty();
        assertThat(ids(advice(second))).containsExactly("test/0/2", "test/0/3");
        assertThat(advice(second).get(0).at()).isEqualTo(NOW);
        assertThat(same.decisions()).isEmpty();
        assertThat(same.state().advice()).isEqualTo(second.state().advice());
        assertThat(same.state().decisionSequence()).isEqualTo(3);
    }

    /** A step of advice at a second after the start, which the next one follows. */
    private Step advised(int second, boolean isPlan, Action... actions) {
        if (second == 0) {
            moment.set(builder -> builder.mode(new Mode(false, true, false)));
        }
        StepBuilder advice = moment.after(ofSeconds(second));
        for (Action action : actions) {
            advice.decide(advice.now(), REASON, action);
        }
        advice.nextPlanAt(advice.now().plusSeconds(60));
        Step step = advice.advised(moment.after(ofSeconds(second)).finished(), isPlan);
        moment.stepped(step);
        return step;
    }

    private static List<Decision> advice(Step step) {
        return step.state().advice().orElseThrow().decisions();
    }

    private static List<String> ids(List<Decision> decisions) {
        return decisions.stream().map(decision -> decision.id().toString()).toList();
    }

    @Test
    void theNextPlanIsKept() {
        Instant plan = NOW.plusSeconds(60);
        StepBuilder builder = draft();

        builder.nextPlanAt(plan);

        assertThat(builder.nextPlanAt()).contains(plan);
        assertThat(builder.finished().state().nextPlanAt()).contains(plan);
    }
}
