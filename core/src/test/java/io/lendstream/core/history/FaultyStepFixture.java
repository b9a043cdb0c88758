package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofSeconds;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Replays a log of a sound scheduler whose last step gets a fault. */
abstract class FaultyStepFixture {
    static final DecisionId DECISION = new DecisionId(DOMAIN, 1, 99);

    /** A rigid job on both training GPUs, one replica of a service whose floor is one, one idle GPU; last, a rate. */
    final Scenario story = new Scenario(
                    new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("slo-extra", "0.5"))))
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 2)
            .migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4")
            .service("chat", 1)
            .settled()
            .rigidJob("rigid", 2)
            .after(ofSeconds(50))
            .rate("chat", 1)
            .settled()
            .after(ofSeconds(11))
            .settled()
            .progress("rigid", JobPhase.RUNNING)
            .rate("chat", 1);

    Set<String> broken(UnaryOperator<Step> fault) {
        long last = story.log().get(story.log().size() - 1).sequence();
        HistoryChecker checker = new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, state, event) -> {
            Step step = scheduler.step(state, event);
            return event.sequence() == last ? fault.apply(step) : step;
        });
        story.log().forEach(checker::take);
        return rules(checker.verdict(story.decisions(), List.of()));
    }

    /** Leases are left out: what the fault does was not published. */
    static Set<String> rules(Verdict verdict) {
        return verdict.violations().stream()
                .map(Violation::rule)
                .filter(rule -> !rule.equals("leases"))
                .collect(Collectors.toSet());
    }

    static Step with(Step step, GpuState gpu) {
        return with(step, step.state().entities().with(gpu), gpu.gpuId());
    }

    static Step with(Step step, JobState job) {
        return with(step, step.state().entities().with(job), new GpuId("train-g0"));
    }

    static Step with(Step step, ClusterEntities entities, GpuId owned) {
        ClusterState state = step.state();
        Set<GpuId> owners = new TreeSet<>(step.changed().owners());
        owners.add(owned);
        return new Step(
                ClusterStates.with(state, entities),
                step.decisions(),
                new Step.Changed(
                        step.changed().nodes(),
                        step.changed().gpus(),
                        step.changed().services(),
                        step.changed().jobs(),
                        step.changed().queues(),
                        step.changed().actuators(),
                        step.changed().applications(),
                        owners));
    }

    static Step owned(Step step, String gpu, Owner owner) {
        GpuState before = step.state().gpus().require(new GpuId(gpu));
        return with(step, before.with(owner, step.state().now(), step.state().eventSequence()));
    }

    static Owner releasing(Tenant tenant, Step step) {
        return new Owner.Releasing(
                tenant, DECISION, step.state().now(), step.state().now().plusSeconds(45));
    }

    String serving() {
        return story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Serving)
                .findFirst()
                .orElseThrow()
                .gpuId()
                .value();
    }

    /** The step in which a decision also gives each of these jobs a free GPU. */
    static Step beyondQuota(Step step, Decision decision, String... jobs) {
        Step bound = step;
        for (String job : jobs) {
            String free = bound.state().gpus().stream()
                    .filter(GpuState::isFree)
                    .findFirst()
                    .orElseThrow()
                    .gpuId()
                    .value();
            Owner.Binding binding = new Owner.Binding(
                    new Tenant.Job(new JobId(job)), DECISION, decision.deadline(), Optional.empty(), 1);
            bound = owned(bound, free, binding);
        }
        return new Step(bound.state(), List.of(decision), bound.changed());
    }
}
