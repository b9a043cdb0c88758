package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlicePlan;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The next stage towards a plan in force: units that are started, and plans that wait. */
class RepartitioningStagesTest extends RepartitioningFixture {
    @Test
    void aUnitAnswersWhatItsProfileDoesAndAWholeGpuThatMayBeCutWhatTheLargestDoes() {
        switchable("", "1g.10gb@0");
        story.node("whole", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB");
        state = new EditedState(story);
        assertThat(capacity(CHAT, "cut-g0")).as("before anything is planned").isZero();
        state.slices(plan(List.of(CHAT)));

        assertThat(capacity(CHAT, "cut-g0")).isEqualTo(400);
        assertThat(capacity(CHAT, "cut-g1/0:1")).isEqualTo(60);
        assertThat(capacity(CHAT, "whole-g0")).isZero();
        assertThat(capacity(SEARCH, "cut-g0"))
                .as("of a service that is not planned")
                .isZero();
    }

    @Test
    void forAServiceByKindsAPlanHoldsOnlyOnGpusOfItsModel() {
        story = new Scenario(
                new Scheduler(new ScriptedPolicy(), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS)));
        story.tell(story.serviceRecord("chat", 0)
                .onKinds(List.of(
                        KindCapacity.of(new KindId("A100-SXM4-80GB"), 300),
                        KindCapacity.of(new KindId("H100-80GB-HBM3"), 200))));
        story.service("search", 0).switchableNode("cut", Pool.INFERENCE, "");
        Gpu other = Gpu.whole(new GpuId("other-g0"), 0, "NVIDIA H100 80GB HBM3", 80L << 30)
                .switchable();
        story.tell(new Node(
                new NodeId("other"),
                Scenario.DOMAIN,
                Pool.INFERENCE,
                "boot-1",
                story.now(),
                NodeStatus.READY,
                List.of(other)));
        state = new EditedState(story);
        state.slices(plan(List.of(CHAT, SEARCH)));

        assertThat(capacity(CHAT, "cut-g0")).isEqualTo(400);
        assertThat(capacity(CHAT, "other-g0"))
                .as("it is counted with what the service declares")
                .isZero();
        assertThat(capacity(SEARCH, "other-g0")).as("kinds are alike for it").isEqualTo(400);
    }

    private double capacity(ServiceId service, String unit) {
        return CuttableGpus.capacity(
                state.draft(), service, state.state().gpus().require(new GpuId(unit)));
    }

    @Test
    void aFreeInstanceThatThePlanWantsIsPutToWork() {
        cluster("1g.10gb@0 1g.10gb@1");

        ticked(cut("1g.10gb chat"));

        Decision serve = only();
        assertThat(serve.action()).isInstanceOf(Action.Serve.class);
        assertThat(serve.action().gpus()).hasSize(1);
        assertThat(serve.deadline()).isEqualTo(state.now().plusSeconds(16));
        assertThat(serve.reason().code()).isEqualTo("slices");
        assertThat(serve.reason().text())
                .isEqualTo("chat starts on 1 MIG instance to answer 50.0 requests/s (plan: as the test has it)");
        assertThat(serve.reason().numbers())
                .containsOnly(
                        Map.entry("plannedPerSecond", 50.0),
                        Map.entry("gpusPlanned", 1.0),
                        Map.entry("requestsPerSecond", 50.0));
        assertThat(serve.reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(owner(serve.action().gpus().get(0).value())).isInstanceOf(Owner.Binding.class);
    }

    @Test
    void eachServiceIsGivenItsInstancesInOneDecision() {
        cluster("2g.20gb@0 1g.10gb@2 1g.10gb@3");

        ticked(cut("2g.20gb search", "1g.10gb chat", "1g.10gb chat"));

        assertThat(kinds()).containsExactly("serve chat", "serve search");
        assertThat(step.decisions().get(0).action().gpus())
                .containsExactly(new GpuId("cut-g0/2:1"), new GpuId("cut-g0/3:1"));
        assertThat(step.decisions().get(0).reason().text()).startsWith("chat starts on 2 MIG instances to answer ");
        assertThat(step.decisions().get(1).action().gpus()).containsExactly(new GpuId("cut-g0/0:2"));
    }

    @Test
    void instancesThatThePlanHasForServicesItDoesNotServeAreLeftOut() {
        cluster("1g.10gb@0 1g.10gb@1");

        ticked(plan(List.of(SEARCH), cut("1g.10gb chat", "1g.10gb search"), cut("7g.80gb chat")));

        assertThat(kinds()).containsExactly("serve search");
    }

    @Test
    void nothingIsDoneWhereItIsSwitchedOffOrFrozenOrThePlanIsForAnotherKindOfGpu() {
        cluster("1g.10gb@0");
        state.mode(new Mode(true, false, false));
        ticked(cut("1g.10gb chat"));
        assertThat(step.decisions()).isEmpty();

        state.mode(new Mode(false, false, false));
        model = "H100-SXM5-80GB";
        ticked(cut("1g.10gb chat"));
        assertThat(step.decisions()).isEmpty();

        model = "A100-80GB";
        scheduler = new Scheduler(scheduler.policy(), SchedulerSettings.DEFAULTS, Slices.LATENCIES);
        ticked(cut("1g.10gb chat"));
        assertThat(kinds()).doesNotContain("serve chat");
    }

    @Test
    void demandAloneMovesNothingUntilTrainingIsPlannedOrTimePasses() {
        cluster("1g.10gb@0");
        state.slices(plan(List.of(CHAT, SEARCH), cut("1g.10gb chat")));
        var same = story.rateRecord("chat", 50, 2);

        state.planAt(state.now().plusSeconds(1));
        assertThat(state.step(scheduler, same).decisions()).isEmpty();

        state.planAt(state.now());
        step = state.step(scheduler, same);
        assertThat(kinds()).containsExactly("serve chat");
    }

    @Test
    void whatComesFreeIsUsedAtOnce() {
        cluster("1g.10gb@0");
        state.slices(plan(List.of(CHAT, SEARCH), cut("1g.10gb chat")))
                .planAt(state.now().plusSeconds(60));
        state.owner(
                "cut-g0/0:1",
                new Owner.Releasing(
                        new Tenant.Job(new JobId("a")),
                        BEFORE,
                        state.now(),
                        state.now().plusSeconds(45)));

        step = state.step(
                scheduler,
                story.report(
                        BEFORE,
                        Outcome.RELEASED,
                        List.of(new GpuId("cut-g0/0:1")),
                        Optional.of(new Tenant.Job(new JobId("a")))));

        assertThat(kinds()).containsExactly("serve chat");
    }

    /** 7g of chat where its 3g has no room to stay meanwhile; it is considered again and stays as it is. */
    private void stuck(SlicePlan.Cut... cuts) {
        story = new Scenario(new Scheduler(new ScriptedPolicy(), SchedulerSettings.DEFAULTS))
                .service("chat", 0)
                .rate("chat", 50)
                .migNode("cut", Pool.INFERENCE, "3g.40gb@0");
        state = new EditedState(story);
        state.owner("cut-g0/0:4", SERVES);
        step = state.slices(plan(List.of(CHAT), cuts).consideredAt(state.now().minus(ofMinutes(6))))
                .planAt(state.now().plus(ofMinutes(10)))
                .tick(scheduler);
    }

    @Test
    void aPlanThatServicesWouldFallShortOnTheWayToWaitsAndTheReasonSaysWhich() {
        stuck(cut("7g.80gb chat"));

        Decision hold = only();
        assertThat(hold.action()).isEqualTo(new Action.Hold(Optional.empty(), Optional.empty()));
        assertThat(hold.deadline()).isEqualTo(state.now());
        assertThat(hold.reason().code()).isEqualTo("slices");
        assertThat(hold.reason().text())
                .isEqualTo("the plan of MIG instances waits: services would fall short on the way:"
                        + " chat needs 50.0 requests/s and would have 0.0");
        assertThat(hold.reason().inputs()).containsExactly(state.state().eventSequence() + 1);
    }

    @Test
    void aPlanThatIsStuckIsNotSpokenOfAtEveryTick() {
        cluster("3g.40gb@0");
        state.owner("cut-g0/0:4", SERVES);

        ticked(plan(List.of(CHAT), cut("7g.80gb chat")));

        assertThat(step.decisions()).isEmpty();
    }

    @Test
    void aPlanOfMoreGpusThanThereAreWaits() {
        stuck(cut("3g.40gb chat"), cut("7g.80gb chat"));

        assertThat(only().reason().text())
                .isEqualTo("the plan of MIG instances waits: only 1 GPU can be cut, fewer than it needs");
    }

    @Test
    void whatAServiceIsAboutToTakeIsNotLentMeanwhile() {
        cluster("1g.10gb@0 1g.10gb@1 1g.10gb@4");
        lends("cut-g0/0:1", "small");
        story.smallJob("other", 1, 8);
        EditedState before = state;
        state = new EditedState(story);
        state.owner(
                        "cut-g0/0:1",
                        before.state().gpus().require(new GpuId("cut-g0/0:1")).owner())
                .job("small", any -> before.state().jobs().require(new JobId("small")));
        scheduler = new Scheduler(new ScriptedPolicy(), scheduler.settings(), Slices.LATENCIES);

        step = state.slices(plan(List.of(CHAT, SEARCH), cut("4g.40gb chat")))
                .planAt(state.now())
                .tick(scheduler);

        assertThat(kinds()).containsExactly("reclaim small", "lend other");
        assertThat(step.decisions().get(1).action().gpus()).containsExactly(new GpuId("cut-g0/4:1"));
    }
}
