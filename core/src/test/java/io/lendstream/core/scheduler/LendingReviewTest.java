package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.scheduler.UnitReview.Cause;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Why GPUs are not lent; and that they are, in the first plan for which the reason is gone. */
class LendingReviewTest extends LendingReviewFixture {
    @Test
    void aReplicaThatDemandNeedsKeepsItsGpu() {
        cluster();
        story.job("a", 4).rate("chat", 1);

        assertReview("infer-g0", Cause.IN_USE, "chat runs on it: 1 needed for the current load, 1 running");
        assertIsNotLent("infer-g0");
    }

    @Test
    void withoutAJobNothingIsLent() {
        cluster();

        assertReview("infer-g1", Cause.NO_JOB, "no training job waits or runs");
        assertIsNotLent("infer-g1");

        story.rigidJob("a", 1).rigidJob("b", 1);

        assertIsLent("infer-g1");
    }

    @Test
    void whatTheNextPlanLendsSaysWhenAndWhy() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).after(ofSeconds(15)).rate("chat", 1);

        UnitReview review = review("infer-g1");

        assertThat(review.reason()).matches("the next plan \\(in 45 s\\) lends it to [ab]: [ab] starts on 1 GPU: .*");
        assertThat(review.until())
                .contains(story.now().plusSeconds(45))
                .isEqualTo(story.state().nextPlanAt());
        story.after(ofSeconds(30)).rate("chat", 1).after(ofSeconds(15));
        assertThat(story.owner("infer-g1").isBinding()).isTrue();
    }

    private void status(String node, NodeStatus status) {
        Node known = story.state().nodes().require(new NodeId(node)).node();
        story.tell(new Node(
                known.nodeId(), known.domain(), known.pool(), known.bootId(), story.now(), status, known.gpus()));
    }

    @Test
    void aNodeThatCannotBeReachedIsNamed() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);
        status("infer", NodeStatus.PAUSED);

        assertReview("infer-g1", Cause.NODE_AWAY, "the agent of node infer reports the node as paused");
        assertIsNotLent("infer-g1");

        status("infer", NodeStatus.READY);

        assertIsLent("infer-g1");
    }

    @Test
    void aQuarantinedGpuSaysWhyAndHowItComesBack() {
        cluster();
        story.rigidJob("a", 1).job("b", 4).sample("infer", Optional.of(79));

        UnitReview review = review("infer-g1");

        assertThat(review.cause()).isEqualTo(Cause.OUT_OF_SERVICE);
        assertThat(review.reason())
                .startsWith("it is out of service: XID 79")
                .endsWith("; repair it, then run 'lendstream reset infer-g1'");
        assertIsNotLent("infer-g1");

        story.control(ControlCommand.Kind.RESET, new GpuId("infer-g1"))
                .rate("chat", 1)
                .settled();
        story.control(ControlCommand.Kind.RESET, new GpuId("infer-g2")).rate("chat", 1);

        assertIsLent("infer-g2");
    }

    @Test
    void aReplicaIsKeptWarmForAWhileAfterDemandAndCanThenBeStoppedForTraining() {
        cluster();
        story.rate("chat", 35).settled();
        rigidJobs(5);
        story.after(ofSeconds(1)).rate("chat", 1);

        UnitReview warm = review("infer-g3");

        assertThat(warm.cause()).isEqualTo(Cause.KEPT_WARM);
        assertThat(warm.reason())
                .isEqualTo("chat needed it until a short time ago: 1 needed for the current load, 1 running;"
                        + " its replica stays warm for another 31 s");
        assertThat(warm.until()).contains(story.now().plusSeconds(31));
        assertIsNotLent("infer-g3");

        story.withoutTicks(ofSeconds(31));

        assertThat(planned(scheduler))
                .anyMatch(decision -> decision.action() instanceof Action.Idle idle
                        && idle.gpus().contains(new GpuId("infer-g3")));
        assertThat(review("infer-g3").cause()).isEqualTo(Cause.KEPT_WARM);
        story.after(Duration.ZERO);
        assertThat(review("infer-g3").reason()).contains(" stops its sleeping replica to lend it to job-");
        assertIsLent("infer-g3");
    }

    @Test
    void aReplicaThatIsAboutToRestIsSoonKeptWarm() {
        cluster();
        story.rate("chat", 35).settled();
        EditedState state = new EditedState(story)
                .service(
                        "chat",
                        known -> known.observed(
                                story.rateRecord("chat", 1, 99),
                                false,
                                known.demand().event()));

        UnitReview review = LendingReview.of(scheduler, state.state(), story.now())
                .of(new GpuId("infer-g3"))
                .get(0);

        assertThat(review.cause()).isEqualTo(Cause.KEPT_WARM);
        assertThat(review.reason()).startsWith("chat no longer needs it: 1 needed for the current load");
    }

    @Test
    void aFreeGpuThatAServiceIsShortOfIsGivenToItFirst() {
        cluster();
        story.job("a", 8);
        EditedState state = new EditedState(story)
                .service(
                        "chat",
                        known -> known.observed(
                                story.rateRecord("chat", 15, 99),
                                false,
                                known.demand().event()));

        UnitReview review = LendingReview.of(scheduler, state.state(), story.now())
                .of(new GpuId("infer-g1"))
                .get(0);

        assertThat(review.cause()).isEqualTo(Cause.NEEDED);
        assertThat(review.reason())
                .isEqualTo("chat is short of 1 replica: 2 needed for the current load, 1 running; it starts 1 replica");
        assertThat(state.tick(scheduler)
                        .state()
                        .gpus()
                        .require(new GpuId("infer-g1"))
                        .owner()
                        .isActiveReplica())
                .isTrue();
    }

    @Test
    void transfersNameTheirDecisionAndTheTimeThatIsLeft() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);
        nextPlan();
        Decision lend = story.last().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .findFirst()
                .orElseThrow();
        String gpu = lend.action().gpus().get(0).value();

        UnitReview binding = review(gpu);
        story.settled();
        UnitReview lent = review(gpu);
        story.rate("chat", 40);
        UnitReview releasing = review(gpu);

        String borrower = lend.action().target();
        assertThat(binding.reason())
                .isEqualTo(
                        "it is being bound to job %s by decision %s, in at most 60 s".formatted(borrower, lend.id()));
        assertThat(binding.cause()).isEqualTo(Cause.IN_TRANSFER);
        assertThat(lent.reason())
                .startsWith("it is lent to %s by decision %s, for another 600 s".formatted(borrower, lend.id()));
        assertThat(lent.cause()).isEqualTo(Cause.LENT);
        assertThat(releasing.reason())
                .matches("it is being released from job %s by decision .*, in at most 45 s".formatted(borrower));
        assertThat(releasing.cause()).isEqualTo(Cause.IN_TRANSFER);
    }

    @Test
    void aTrainingGpuIsReviewedToo() {
        cluster();
        story.job("a", 1);
        assertThat(review("train-g0").cause()).isIn(Cause.NEXT_PLAN);
        nextPlan();
        story.settled();

        assertReview("train-g0", Cause.IN_USE, "a trains on it, and it belongs to the training pool");
    }

    @Test
    void aGpuThatIsNotThereHasNoReview() {
        cluster();

        assertThat(LendingReview.of(scheduler, story.state(), story.now()).of(new GpuId("none")))
                .isEmpty();
    }

    /** What becomes of idle units in a step, by unit: the kind of the decision. */
    private static Map<GpuId, String> kinds(List<Decision> decisions) {
        Map<GpuId, String> kinds = new HashMap<>();
        for (Decision decision : decisions) {
            decision.action()
                    .gpus()
                    .forEach(gpu -> kinds.putIfAbsent(gpu, decision.action().kind()));
        }
        return kinds;
    }

    @Test
    void inAnyHistoryAnIdleUnitIsGivenAwayByAPlanExactlyIfTheReviewSaysSo() {
        int plans = 0;
        for (long seed = 1; seed <= 24; seed++) {
            RandomHistory history = RandomHistory.of(seed);
            ClusterState state = ClusterState.empty(Scenario.DOMAIN);
            for (DomainEvent event : history.log()) {
                ClusterState before = state;
                Step step = history.scheduler().step(before, event);
                state = step.state();
                boolean isPlanned = event.event().isTick()
                        && before.nextPlanAt()
                                .filter(at -> !at.isAfter(event.at()))
                                .isPresent();
                if (isPlanned) {
                    plans++;
                    assertAgrees(seed, event, before, step, history.scheduler());
                }
            }
        }
        assertThat(plans).isGreaterThan(100);
    }

    private static void assertAgrees(
            long seed, DomainEvent event, ClusterState before, Step step, Scheduler scheduler) {
        List<Decision> proposed = new ArrayList<>(step.decisions());
        if (step.state().mode().advisory()) {
            step.state().advice().ifPresent(standing -> proposed.addAll(standing.decisions()));
        }
        Map<GpuId, String> given = kinds(proposed);
        for (UnitReview review : LendingReview.of(scheduler, before, event.at()).inference()) {
            Optional<GpuState> unit = before.gpus().get(review.unit());
            if (unit.isPresent() && (unit.get().isFree() || unit.get().owner().isSleeping())) {
                String kind = given.getOrDefault(review.unit(), "none");
                boolean isSaid =
                        List.of(Cause.NEXT_PLAN, Cause.ADVICE, Cause.NEEDED).contains(review.cause());
                assertThat(isSaid)
                        .as("seed %d, event %d: %s was %s", seed, event.sequence(), review, kind)
                        .isEqualTo(!kind.equals("none"));
            }
        }
    }
}
