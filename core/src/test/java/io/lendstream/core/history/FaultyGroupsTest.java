package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Faults in steps with replicas of several GPUs and gangs. */
class FaultyGroupsTest extends FaultyStepFixture {
    /** It does not count for the floor either, because a replica works only whole. */
    @Test
    @Breaks("group")
    void noticesAReplicaThatServesWithSomeOfItsUnits() {
        GroupPart part = new GroupPart(ReplicaId.of(DECISION, 0), "tp2", ReplicaRole.ALL, 2, true);

        assertThat(broken(step -> with(
                        step, step.state().gpus().require(new GpuId(serving())).in(part))))
                .containsExactlyInAnyOrder("floor", "group");
    }

    @Test
    void noticesAGangThatTrainsOnSomeOfItsGpus() {
        Scenario gang = startingGang();
        reported(gang, Outcome.BOUND);

        assertThat(brokenGang(gang, step -> owned(step, "train-g0", new Owner.Training(new JobId("a")))))
                .containsExactly("group");
        assertThat(brokenGang(gang, step -> step)).isEmpty();
    }

    @Test
    void noticesAGangThatIsUndoneInPart() {
        Scenario gang = startingGang();
        GpuState left = gang.state().gpus().require(new GpuId("train-g1"));
        reported(gang, Outcome.FAILED);
        assertThat(gang.lastKinds()).containsExactly("resize");

        assertThat(brokenGang(gang, step -> with(step, left))).contains("group");
        assertThat(brokenGang(gang, step -> step)).isEmpty();
    }

    @Test
    void noticesAGangThatGoesOnWithFewerGpusWithoutADecision() {
        Scenario gang = Scenario.of("afs").node("train", Pool.TRAINING, 3);
        gang.tell(gang.jobRecord("a", 3, true).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && gang.job("a").gpus() == 0; i++) {
            gang.after(ofSeconds(5));
        }
        gang.settled().after(ofSeconds(1)).progress("a", JobPhase.RUNNING);
        assertThat(gang.count("training")).isEqualTo(3);

        assertThat(brokenGang(gang, step -> {
                    Step freed = owned(step, "train-g0", new Owner.Free());
                    JobState job = freed.state().jobs().require(new JobId("a"));
                    return with(
                            freed,
                            job.without(
                                    List.of(new GpuId("train-g0")),
                                    freed.state().now()));
                }))
                .contains("group");
    }

    /** A gang that is about to get both GPUs of a node. */
    private static Scenario startingGang() {
        Scenario gang = Scenario.of("deepboot").node("train", Pool.TRAINING, 2);
        gang.tell(gang.jobRecord("a", 2, false).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && gang.job("a").gpus() == 0; i++) {
            gang.after(ofSeconds(5));
        }
        assertThat(gang.count("binding")).isEqualTo(2);
        return gang;
    }

    private static void reported(Scenario gang, Outcome outcome) {
        DecisionId start = gang.decisions().get(gang.decisions().size() - 1).id();
        gang.tell(gang.report(
                start, outcome, List.of(new GpuId("train-g0")), Optional.of(new Tenant.Job(new JobId("a")))));
    }

    private static Set<String> brokenGang(Scenario gang, UnaryOperator<Step> fault) {
        long last = gang.log().get(gang.log().size() - 1).sequence();
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? fault.apply(step) : step;
        });
        gang.log().forEach(checker::take);
        return rules(checker.verdict(gang.decisions(), List.of()));
    }

    @Test
    @Breaks("role floor")
    void noticesAReplicaTakenFromTheFloorOfARole() {
        Scenario parts =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 3).actuator("one", Abilities.USUAL);
        parts.tell(parts.serviceRecord("chat", 1)
                        .inShapes(List.of(
                                ReplicaShape.of("in", 1, 1, 20, ofSeconds(8)).as(ReplicaRole.PREFILL),
                                ReplicaShape.of("out", 1, 1, 10, ofSeconds(8)).as(ReplicaRole.DECODE))))
                .settled()
                .rate("chat", 10)
                .settled()
                .rate("chat", 10);
        long last = parts.log().get(parts.log().size() - 1).sequence();
        Tenant chat = new Tenant.Service(new ServiceId("chat"));
        String prefill = parts.state().gpus().stream()
                .filter(unit -> unit.part()
                        .filter(part -> part.role() == ReplicaRole.PREFILL)
                        .isPresent())
                .findFirst()
                .orElseThrow()
                .gpuId()
                .value();

        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? owned(step, prefill, releasing(chat, step)) : step;
        });
        parts.log().forEach(checker::take);

        assertThat(rules(checker.verdict(parts.decisions(), List.of()))).containsExactly("role floor");
    }

    /** Its owner asks for more than it holds: that is no fault of the scheduler's. */
    @Test
    void aRigidJobWhoseOwnerAsksForMoreIsNoBrokenGang() {
        story.rigidJob("rigid", 3).rate("chat", 1);
        assertThat(story.job("rigid").gpus()).isEqualTo(2);

        assertThat(broken(step -> owned(
                        step,
                        "infer-g0",
                        step.state().gpus().require(new GpuId("infer-g0")).owner())))
                .isEmpty();
        assertThat(Invariants.check(story.state())).extracting(Violation::rule).containsExactly("gang");
    }
}
