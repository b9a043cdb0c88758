package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SchedulerTest {
    private Scenario story = Scenario.of("deepboot");

    /** Two training GPUs, four of inference, one service that needs one replica. */
    private Scenario smallCluster(String policy) {
        story = Scenario.of(policy);
        return story.node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
    }

    /** The small cluster with a job that has been lent two GPUs. */
    private Scenario lending(String policy) {
        smallCluster(policy).job("a", 4);
        for (int i = 0; i < 8; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        for (int i = 0; i < 40 && story.job("a").gpus() < 4; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            story.progress("a", JobPhase.RUNNING).settled();
        }
        assertThat(story.job("a").gpus()).isEqualTo(4);
        assertThat(story.count("lent")).isEqualTo(2);
        return story.rate("chat", 1).settled();
    }

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void keepsTheFloorOfAServiceBeforeAnyRequest() {
        smallCluster("deepboot");

        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void keepsTheFloorOfEveryServiceBeforeTheDemandOfAny() {
        story = Scenario.of("deepboot");
        story.service("chat", 0).service("search", 1).rate("chat", 100).node("infer", Pool.INFERENCE, 2);

        assertThat(story.last())
                .filteredOn(decision -> decision.action() instanceof Action.Serve)
                .extracting(decision -> decision.action().target())
                .containsExactly("chat", "search");
        story.settled();
    }

    @Test
    void startsAQueuedJobAtTheNextPlanOnTrainingsOwnGpus() {
        smallCluster("deepboot").job("a", 2).after(ofSeconds(45)).rate("chat", 1);
        assertThat(story.last()).isEmpty();

        story.after(ofSeconds(15));

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(story.job("a").allocation().gpus()).containsExactly(new GpuId("train-g0"));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Binding.class);
        assertThat(story.last().get(0).reason().text()).startsWith("a starts on 1 GPU: ");
    }

    @Test
    void lendsIdleInferenceGpusOnceTrainingsOwnAreUsed() {
        lending("deepboot");

        List<Decision> lends = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .toList();
        assertThat(lends).hasSize(1);
        assertThat(((Action.Lend) lends.get(0).action()).gpus())
                .hasSize(2)
                .allMatch(gpu -> gpu.value().startsWith("infer"));
    }

    @Test
    void takesLentGpusBackAtOnceWhenDemandComesAndServesOnlyAfterTheirRelease() {
        lending("deepboot").rate("chat", 25);

        assertThat(story.lastKinds()).containsExactly("serve", "reclaim");
        Action.Reclaim reclaim = (Action.Reclaim) story.last().get(1).action();
        assertThat(reclaim.gpus()).hasSize(1);
        assertThat(reclaim.allocation().gpus()).hasSize(3);
        assertThat(story.owner(reclaim.gpus().get(0).value())).isInstanceOf(Owner.Releasing.class);

        story.tell(story.answers(story.last().get(1)).get(0));

        assertThat(story.lastKinds()).containsExactly("serve");
        assertThat(story.last().get(0).action().gpus()).isEqualTo(reclaim.gpus());
        story.settled();
    }

    @Test
    void protectsAReplicaThatIsNoLongerNeededThenLetsItSleepAndWakesItWarm() {
        smallCluster("deepboot").rate("chat", 15).settled();
        assertThat(story.count("serving")).isEqualTo(2);

        story.after(ofSeconds(15)).rate("chat", 1);
        assertThat(story.count("protected")).isEqualTo(1);

        story.after(ofSeconds(15))
                .rate("chat", 1)
                .after(ofSeconds(15))
                .rate("chat", 1)
                .after(ofSeconds(15));
        assertThat(story.count("sleeping")).isEqualTo(1);

        story.rate("chat", 15);
        assertThat(((Action.Serve) story.last().get(0).action()).warm()).isTrue();
        assertThat(story.count("serving")).isEqualTo(2);
        story.settled();
    }

    @Test
    void renewsLoansWhileAllIsWell() {
        lending("deepboot");
        for (int i = 0; i < 30; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 1).settled();
        }

        assertThat(story.decisions()).anyMatch(decision -> decision.action() instanceof Action.Renew);
        assertThat(story.count("lent")).isEqualTo(2);
    }

    @Test
    void takesEverythingBackWhenDemandIsUnknownForAMinute() {
        lending("deepboot").after(ofSeconds(59));
        assertThat(story.lastKinds()).doesNotContain("reclaim");

        story.after(ofSeconds(2));

        assertThat(story.lastKinds()).containsExactly("hold", "reclaim");
        assertThat(story.last().get(1).reason().text()).contains("the demand of chat is unknown");
        story.settled();
        assertThat(story.count("lent")).isZero();
    }

    @Test
    void lendsNothingNewWhileRatesAreStale() {
        smallCluster("deepboot").rate("chat", 1).settled().rigidJob("a", 4).after(ofMinutes(1));

        assertThat(story.lastKinds()).containsExactly("hold");
        assertThat(story.last().get(0).reason().text()).contains("the request rates of chat are");
    }

    @Test
    void undoesABindWithoutAReport() {
        smallCluster("deepboot")
                .job("a", 2)
                .after(ofSeconds(45))
                .rate("chat", 1)
                .after(ofSeconds(15));
        Decision start = story.last().get(0);

        story.rate("chat", 1).after(ofMinutes(1));

        assertThat(story.decisions())
                .anyMatch(decision -> decision.reason().code().equals("timeout"));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Releasing.class);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(start.action()).isInstanceOf(Action.Resize.class);
        story.settled();
        assertThat(story.owner("train-g0")).isNotInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void takesAGpuAsBoundThatALaterDecisionOnTheJobHasBound() {
        smallCluster("deepboot")
                .job("a", 2)
                .after(ofSeconds(45))
                .rate("chat", 1)
                .after(ofSeconds(15));
        DecisionId start = story.last().get(0).id();
        Optional<Tenant> job = Optional.of(new Tenant.Job(new JobId("a")));
        List<GpuId> gpu = List.of(new GpuId("train-g0"));

        story.tell(story.report(
                new DecisionId(start.domain(), start.epoch(), start.sequence() - 1), Outcome.BOUND, gpu, job));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Binding.class);

        story.tell(story.report(
                new DecisionId(start.domain(), start.epoch(), start.sequence() + 1), Outcome.BOUND, gpu, job));
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Training.class);
    }

    @Test
    void quarantinesAGpuWhoseReleaseIsNeverReported() {
        lending("deepboot").rate("chat", 25);
        GpuId gpu = story.last().get(1).action().gpus().get(0);
        Decision serve = story.last().get(0);
        story.answers(serve).forEach(story::tell);

        for (int i = 0; i < 6; i++) {
            story.after(ofSeconds(15)).rate("chat", 25).settled();
        }

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Quarantined.class);
        story.control(ControlCommand.Kind.RESET, gpu);
        assertThat(story.owner(gpu.value())).isNotInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void quarantinesAGpuThatCouldNotBeBoundTwiceInARow() {
        story = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 1).service("chat", 1);
        Decision first = story.last().get(0);
        story.tell(story.report(first.id(), Outcome.FAILED, first.action().gpus(), Optional.empty()));
        Decision second = story.last().get(0);
        assertThat(second.action()).isInstanceOf(Action.Serve.class);

        story.tell(story.report(second.id(), Outcome.FAILED, second.action().gpus(), Optional.empty()));

        assertThat(story.owner("infer-g0")).isInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void takesAGpuWithAFatalXidFromItsJobAndIgnoresTheOldXidAfterAReset() {
        lending("deepboot");
        GpuId gpu = story.job("a").allocation().gpus().get(0);

        story.sample(story.state().gpus().require(gpu).nodeId().value(), Optional.of(79));

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Quarantined.class);
        assertThat(story.lastKinds()).containsAnyOf("resize", "reclaim");
        assertThat(story.last().get(0).reason().code()).isEqualTo("lost");
        assertThat(story.job("a").allocation().gpus())
                .allMatch(left -> left.value().startsWith("train"));

        story.control(ControlCommand.Kind.RESET, gpu)
                .sample(story.state().gpus().require(gpu).nodeId().value(), Optional.of(79));
        assertThat(story.owner(gpu.value())).isNotInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void aFreezeStopsPlansButNotReclaimsForInference() {
        lending("deepboot").control(ControlCommand.Kind.FREEZE).job("b", 2);
        story.rate("chat", 1).after(ofMinutes(1));
        assertThat(story.lastKinds()).containsOnly("hold");

        story.rate("chat", 25);
        assertThat(story.lastKinds()).contains("reclaim");
        story.settled();
    }

    @Test
    void adviceChangesNothing() {
        smallCluster("deepboot").job("a", 2).after(ofSeconds(45)).rate("chat", 1);
        story.control(ControlCommand.Kind.ADVISORY_ON).after(ofSeconds(15));

        assertThat(story.lastKinds()).containsExactly("resize");
        assertThat(story.last()).allMatch(Decision::advisory);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.count("binding")).isZero();
    }

    @Test
    void reclaimAllTakesEveryLoanBackAndLendsNothingUntilThawed() {
        lending("deepboot").control(ControlCommand.Kind.RECLAIM_ALL);
        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.settled();

        story.rate("chat", 1).after(ofMinutes(1)).settled();

        assertThat(story.count("lent")).isZero();
    }

    @Test
    void aForecastBringsGpusBackBeforeDemandUnderLendstreamOnly() {
        lending("deepboot").forecast("chat", 25);
        assertThat(story.last()).isEmpty();
        assertThat(story.verdict().violations()).isEmpty();

        lending("lendstream").forecast("chat", 25);
        assertThat(story.lastKinds()).containsExactly("serve", "reclaim");
        assertThat(story.last().get(0).reason().code()).isEqualTo("forecast");
        story.settled();
    }

    @Test
    void releasesTheGpusOfAFinishedJob() {
        lending("deepboot").progress("a", JobPhase.FINISHED);

        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.settled();
        assertThat(story.count("free")).isEqualTo(5);
        assertThat(story.state().jobs().get(new JobId("a"))).isPresent();
    }

    @Test
    void aLateRecordOfAFinishedJobDoesNotBringItBack() {
        lending("deepboot").progress("a", JobPhase.FINISHED).settled().progress("a", JobPhase.RUNNING);

        story.rate("chat", 1).after(ofMinutes(1));

        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void aRecordThatComesTwiceChangesNothing() {
        smallCluster("deepboot").rate("chat", 1);
        var before = story.state().services();

        story.tell(story.rateRecord("chat", 50, 1));

        assertThat(story.last()).isEmpty();
        assertThat(story.state().services()).isEqualTo(before);
    }

    @Test
    void aSourceThatWasReplacedIsForgottenInTheEnd() {
        smallCluster("deepboot").rate("chat", 25).settled();
        for (int minute = 1; minute <= 10; minute++) {
            story.after(ofMinutes(1))
                    .settled()
                    .tell(fromPod("pod-2", 5, minute))
                    .settled();
        }
        assertThat(demand()).as("as long as the first may come back").isEqualTo(30);

        story.after(ofMinutes(1)).settled().tell(fromPod("pod-2", 5, 11)).settled();

        assertThat(demand()).isEqualTo(5);
    }

    private double demand() {
        return story.state().services().require(new ServiceId("chat")).arrivalsPerSecond();
    }

    private RequestRate fromPod(String pod, double perSecond, long sequence) {
        RequestRate gateway = story.rateRecord("chat", perSecond, sequence);
        return new RequestRate(
                gateway.service(),
                gateway.domain(),
                pod,
                gateway.bootId(),
                sequence,
                gateway.windowStart(),
                gateway.windowEnd(),
                gateway.requests(),
                gateway.latency(),
                List.of(),
                List.of());
    }

    @Test
    void aLateReleaseOfAnotherTenantDoesNotFreeAGpu() {
        lending("deepboot").rate("chat", 25);
        Decision reclaim = story.last().get(1);
        var released = story.answers(reclaim).get(0);
        story.tell(released);
        GpuId gpu = reclaim.action().gpus().get(0);
        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Binding.class);

        story.tell(released);

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Binding.class);
        story.tell(story.answers(story.decisions().get(story.decisions().size() - 1))
                .get(0));
    }

    @Test
    void anOlderReleaseOfTheSameTenantDoesNotFreeAGpuThatItIsLeavingAgain() {
        lending("deepboot").rate("chat", 25);
        Decision reclaim = story.last().get(1);
        GpuId gpu = reclaim.action().gpus().get(0);
        Decision lend = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend
                        && decision.action().gpus().contains(gpu))
                .findFirst()
                .orElseThrow();
        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Releasing.class);

        story.tell(
                story.report(lend.id(), Outcome.RELEASED, List.of(gpu), Optional.of(new Tenant.Job(new JobId("a")))));

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Releasing.class);
        story.tell(story.answers(reclaim).get(0)).settled();
    }

    @Test
    void aReplicaOfWhichItsActuatorKnowsNothingIsReplaced() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);

        story.tell(holds(replica.gpuId(), Optional.empty()));

        assertThat(story.lastKinds()).contains("serve");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void aGpuOnWhichAnotherRunsThanWasDecidedIsPutOutOfService() {
        lending("deepboot").after(ofSeconds(1));
        GpuId taken = first(Owner.Training.class).gpuId();
        GpuId free = first(Owner.Free.class).gpuId();
        Optional<Tenant> stranger = Optional.of(new Tenant.Job(new JobId("stranger")));

        story.tell(holds(taken, stranger)).tell(holds(free, stranger));

        assertThat(story.owner(taken.value()))
                .isEqualTo(
                        new Owner.Quarantined(
                                "actuator test finds job stranger running on it, where job a was decided; stop what should not run there, then reset it"));
        assertThat(story.owner(free.value())).isInstanceOf(Owner.Quarantined.class);
        assertThat(story.job("a").allocation().gpus()).doesNotContain(taken);
    }

    @Test
    void stockThatIsAsDecidedOrFromBeforeChangesNothing() {
        smallCluster("deepboot").rate("chat", 1);
        ActuationReport before = holds(first(Owner.Serving.class).gpuId(), Optional.empty());
        story.after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);
        ClusterState state = story.state();

        story.tell(before).tell(holds(replica.gpuId(), replica.owner().holder()));

        assertThat(story.state().gpus()).isEqualTo(state.gpus());
    }

    private GpuState first(Class<? extends Owner> owner) {
        return story.state().gpus().stream()
                .filter(gpu -> owner.isInstance(gpu.owner()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aNodeThatDoesNotSeeItsGpusKeepsThem() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        ClusterState before = story.state();
        NodeId node = first(Owner.Serving.class).nodeId();

        story.tell(inventory(node, NodeStatus.UNAVAILABLE));

        assertThat(story.state().gpus()).isEqualTo(before.gpus());
    }

    @Test
    void aGpuThatItsNodeNoLongerReportsIsOutOfServiceIfATenantHasIt() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);

        story.tell(inventory(replica.nodeId(), NodeStatus.READY));

        assertThat(story.owner(replica.gpuId().value()))
                .isEqualTo(new Owner.Quarantined("its node no longer reports it"));
    }

    /** A record may come twice, and the older one of two after the newer. */
    @Test
    void anInventoryThatWasDeliveredAgainChangesNothing() {
        smallCluster("deepboot");
        NodeId node = new NodeId("infer");
        Node known = story.state().nodes().require(node).node();
        Node ready = numbered(known, 7, NodeStatus.READY);

        story.tell(ready).tell(numbered(known, 8, NodeStatus.PAUSED));
        story.tell(ready);
        assertThat(story.state().nodes().require(node).node().status()).isEqualTo(NodeStatus.PAUSED);

        story.tell(numbered(known, 9, NodeStatus.READY));
        assertThat(story.state().nodes().require(node).node().status()).isEqualTo(NodeStatus.READY);
        story.tell(inventory(node, NodeStatus.UNAVAILABLE));
        assertThat(story.state().nodes().require(node).node().status())
                .as("of an agent that does not count them")
                .isEqualTo(NodeStatus.UNAVAILABLE);
    }

    private Node numbered(Node known, long sequence, NodeStatus status) {
        return new Node(
                known.nodeId(),
                known.domain(),
                known.pool(),
                "boot-2",
                story.now(),
                status,
                known.gpus(),
                known.driverVersion(),
                sequence,
                "");
    }

    private Node inventory(NodeId node, NodeStatus status) {
        Node known = story.state().nodes().require(node).node();
        return new Node(node, known.domain(), known.pool(), "boot-2", story.now(), status, List.of());
    }

    @Test
    void anActuatorThatDidNotBindAReplicaCannotSayThatItIsGone() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);
        ActuationReport noTenant = holds(replica.gpuId(), Optional.empty());

        story.tell(new ActuationReport(
                noTenant.domain(),
                noTenant.decision(),
                "another",
                noTenant.at(),
                noTenant.outcome(),
                noTenant.gpus(),
                noTenant.tenant(),
                noTenant.timings(),
                noTenant.reason()));

        assertThat(story.state().gpus().get(replica.gpuId())).contains(replica);
    }

    private ActuationReport holds(GpuId gpu, Optional<Tenant> tenant) {
        return story.report(story.decisions().get(0).id(), Outcome.HOLDS, List.of(gpu), tenant);
    }

    @Test
    void aReplicaThatEndedByItselfIsReplaced() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Serving)
                .findFirst()
                .orElseThrow();
        Decision started = story.decisions().get(0);

        story.tell(story.report(
                started.id(),
                Outcome.RELEASED,
                List.of(replica.gpuId()),
                replica.owner().holder()));

        assertThat(story.lastKinds()).contains("serve");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void aJobWhoseWorkerEndedByItselfGoesOnWithTheOthers() {
        lending("deepboot").after(ofSeconds(1));
        GpuState lost = story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Training)
                .findFirst()
                .orElseThrow();
        int before = story.job("a").gpus();

        story.tell(story.report(
                story.decisions().get(1).id(),
                Outcome.RELEASED,
                List.of(lost.gpuId()),
                lost.owner().holder()));

        assertThat(story.owner(lost.gpuId().value()).holder().filter(new Tenant.Job(new JobId("a"))::equals))
                .isEmpty();
        assertThat(story.job("a").gpus()).isEqualTo(before - 1);
    }

    @Test
    void aMeasuredPauseCountsForHalfOfTheAssumedCostOfAChange() {
        smallCluster("deepboot").job("a", 4);
        for (int i = 0; i < 8 && story.job("a").changing().isEmpty(); i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15));
        }
        DecisionId start = story.job("a").changing().orElseThrow();
        RescaleCosts declared = story.job("a").costs();
        Timings measured = Timings.NONE.pausing(Optional.of(ofSeconds(10)));

        story.tell(new ActuationReport(
                DOMAIN,
                start,
                "test",
                story.now(),
                Outcome.APPLIED,
                List.of(),
                Optional.of(new Tenant.Job(new JobId("a"))),
                measured,
                ""));

        assertThat(story.job("a").changing()).isEmpty();
        assertThat(story.job("a").costs())
                .isEqualTo(new RescaleCosts(declared.first().plusSeconds(10).dividedBy(2), declared.next()));
        story.settled();
    }

    @Test
    void refusesALogWithAGap() {
        smallCluster("deepboot");
        DomainEvent event =
                new DomainEvent(DOMAIN, 1, 99, story.now(), Optional.empty(), new Tick(DOMAIN, story.now()));

        assertThatThrownBy(() -> new Scheduler(
                                io.lendstream.core.policy.catalogue.Policies.parse("deepboot"),
                                SchedulerSettings.DEFAULTS)
                        .step(story.state(), event))
                .hasMessageContaining("gap");
    }

    /** A job on two of three GPUs, whose node is moved to inference. */
    @Test
    void aNodeThatChangesItsPoolServesAsSoonAsItsGpusAreFree() {
        Scenario story = Scenario.of("deepboot").node("node", Pool.TRAINING, 3).rigidJob("a", 2);
        story.after(ofSeconds(61)).settled();
        assertThat(story.job("a").gpus()).isEqualTo(2);

        story.node("node", Pool.INFERENCE, 3).service("chat", 3).settled();

        assertThat(story.count("training")).isEqualTo(2);
        assertThat(story.count("serving")).isEqualTo(1);
        story.progress("a", JobPhase.FINISHED).settled();
        assertThat(story.count("serving")).isEqualTo(3);
        assertThat(story.verdict().violations()).isEmpty();
    }
}
