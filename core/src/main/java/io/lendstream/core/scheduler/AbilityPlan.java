package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.JobState;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The part of a plan that the actuators can carry out. Policies do not know actuators. An elastic job gets the part of
 * its GPUs that is possible in its shape, if it is more than it has; any other job keeps those that it has. So does
 * each job under a policy that gives all GPUs that a job asked for or none: the next plan would take the part back.
 *
 * @param refusals the jobs that do not get all GPUs of the plan
 */
record AbilityPlan(Plan plan, SortedMap<JobId, AbilityRefusal> refusals) {
    /**
     * The possible part of a plan: all of it if no actuator restricts plans.
     *
     * @param allAskedFor whether the policy gives a job all GPUs that it asked for or none
     */
    static AbilityPlan of(StepBuilder builder, ShapeGuard shapes, Plan plan, boolean allAskedFor) {
        AbilityGuard guard = new AbilityGuard(builder);
        return guard.isOn()
                ? new Selection(builder, guard, shapes, plan, allAskedFor).select()
                : new AbilityPlan(plan, Collections.emptySortedMap());
    }

    /** Goes through the jobs of a plan. */
    private static final class Selection {
        private final StepBuilder builder;
        private final AbilityGuard guard;
        private final ShapeGuard shapes;
        private final Plan plan;
        private final boolean allAskedFor;
        private final Map<JobId, List<GpuId>> targets;
        private final Map<JobId, PlanReason> reasons;
        private final SortedMap<JobId, AbilityRefusal> refusals = new TreeMap<>();

        Selection(StepBuilder builder, AbilityGuard guard, ShapeGuard shapes, Plan plan, boolean allAskedFor) {
            this.builder = builder;
            this.guard = guard;
            this.shapes = shapes;
            this.plan = plan;
            this.allAskedFor = allAskedFor;
            this.targets = new TreeMap<>(plan.targets());
            this.reasons = new TreeMap<>(plan.reasons());
        }

        AbilityPlan select() {
            plan.targets().forEach((job, target) -> limit(builder.jobs().require(job), target));
            return new AbilityPlan(
                    new Plan(targets, reasons, plan.standings(), plan.left(), plan.holdsUntil()), refusals);
        }

        private void limit(JobState job, List<GpuId> target) {
            Set<GpuId> held = new HashSet<>(job.allocation().gpus());
            if (held.containsAll(target)) {
                return;
            }
            Optional<AbilityRefusal> first = Optional.empty();
            for (GpuId gpu : target) {
                if (!held.contains(gpu) && first.isEmpty()) {
                    first = guard.against(builder.gpu(gpu));
                }
            }
            List<GpuId> possible = target.stream()
                    .filter(gpu -> held.contains(gpu) || guard.isUsable(builder.gpu(gpu)))
                    .toList();
            Optional<AbilityRefusal> span = guard.againstSpan(possible);
            Optional<AbilityRefusal> refusal = first.or(() -> span);
            if (refusal.isPresent()) {
                refuse(job, span.isPresent() ? onOneNode(possible, held) : possible, refusal.get());
            }
        }

        /** The GPUs on one node: the node where the job has most, and else the one where it would get most. */
        private List<GpuId> onOneNode(List<GpuId> gpus, Set<GpuId> held) {
            Map<NodeId, Integer> weights = new TreeMap<>();
            for (GpuId gpu : gpus) {
                weights.merge(builder.gpu(gpu).nodeId(), held.contains(gpu) ? gpus.size() : 1, Integer::sum);
            }
            int most = Collections.max(weights.values());
            NodeId best = weights.entrySet().stream()
                    .filter(weight -> weight.getValue() == most)
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElseThrow();
            return gpus.stream()
                    .filter(gpu -> builder.gpu(gpu).nodeId().equals(best))
                    .toList();
        }

        private void refuse(JobState job, List<GpuId> possible, AbilityRefusal refusal) {
            JobId name = job.spec().job();
            List<GpuId> part = shapes.part(job, possible);
            boolean isMore = !allAskedFor && JobChanges.goesOnWith(job, part.size()) && part.size() > job.gpus();
            List<GpuId> given = isMore ? part : job.allocation().gpus();
            targets.put(name, given);
            refusals.put(name, refusal);
            builder.listener().vetoed(name, refusal.text());
            Optional.ofNullable(reasons.get(name))
                    .ifPresent(why -> reasons.put(name, PlanReason.later(() -> cut(job, given.size(), refusal, why))));
        }

        private static PlanReason cut(JobState job, int given, AbilityRefusal refusal, PlanReason why) {
            String does = Wording.resized(job.gpus(), given, job.usage().largestRun() > 0);
            return new PlanReason(
                    "%s %s: %s; without that: %s".formatted(job.spec().job(), does, refusal.text(), why.text()),
                    why.numbers());
        }
    }
}
