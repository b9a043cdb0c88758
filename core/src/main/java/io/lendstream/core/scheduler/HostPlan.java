package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The part of a plan that the CPU and host memory of nodes allow. Policies do not know hosts. In the order of priority
 * and submission an elastic job gets the part of its GPUs that fits and that its shape allows, if it is more than it
 * has; any other job keeps those that it has.
 *
 * @param refusals the jobs that do not get all GPUs of the plan
 */
record HostPlan(Plan plan, SortedMap<JobId, HostRefusal> refusals) {
    /** The possible part of a plan: all of it if no node reports its CPU or host memory. */
    static HostPlan of(StepBuilder builder, ShapeGuard shapes, Plan plan) {
        HostRoom room = new HostRoom(builder);
        return room.isOn()
                ? new Selection(builder, room, shapes, plan).select()
                : new HostPlan(plan, Collections.emptySortedMap());
    }

    /** Decides one hold for all that the plan leaves out. */
    void hold(StepBuilder builder) {
        if (refusals.isEmpty()) {
            return;
        }
        HostRefusal first = refusals.values().iterator().next();
        String more = refusals.size() == 1 ? "" : " (and %d more)".formatted(refusals.size() - 1);
        Map<String, Double> numbers = new TreeMap<>(first.numbers());
        numbers.put("jobs", (double) refusals.size());
        builder.decide(
                builder.now(),
                builder.because(
                        ReasonCode.HOST,
                        "the plan leaves out what nodes cannot give: " + first.inWords() + more,
                        numbers,
                        List.of()),
                new Action.Hold(Optional.of(first.job()), Optional.empty()));
    }

    /** Goes through the jobs of a plan. */
    private static final class Selection {
        private final StepBuilder builder;
        private final HostRoom room;
        private final ShapeGuard shapes;
        private final Map<JobId, List<GpuId>> targets;
        private final Map<JobId, PlanReason> reasons;
        private final SortedMap<JobId, HostRefusal> refusals = new TreeMap<>();
        private final List<JobState> jobs;
        private final Plan plan;
        /** The units that jobs of the plan have or get; they are counted job by job. */
        private final Set<GpuId> planned = new HashSet<>();
        /** What is left of nodes, once units are released that leave their jobs. */
        private final Map<NodeId, HostRoom.HostLeft> left = new HashMap<>();

        Selection(StepBuilder builder, HostRoom room, ShapeGuard shapes, Plan plan) {
            this.builder = builder;
            this.room = room;
            this.shapes = shapes;
            this.plan = plan;
            this.targets = new TreeMap<>(plan.targets());
            this.reasons = new TreeMap<>(plan.reasons());
            this.jobs = plan.targets().keySet().stream()
                    .map(job -> builder.jobs().require(job))
                    .sorted(Comparator.comparingInt(
                                    (JobState job) -> -builder.entities().priorityOf(job))
                            .thenComparing(job -> job.spec().submittedAt())
                            .thenComparing(job -> job.spec().job()))
                    .toList();
            plan.targets().values().forEach(planned::addAll);
            jobs.forEach(job -> planned.addAll(job.allocation().gpus()));
        }

        HostPlan select() {
            for (JobState job : jobs) {
                List<GpuId> kept = new ArrayList<>(target(job));
                kept.retainAll(job.allocation().gpus());
                kept.forEach(gpu -> count(job, gpu));
            }
            jobs.forEach(this::limit);
            refusals.forEach((job, refusal) -> builder.listener().vetoed(job, refusal.inWords()));
            return new HostPlan(
                    new Plan(targets, reasons, plan.standings(), plan.left(), plan.holdsUntil()), refusals);
        }

        private List<GpuId> target(JobState job) {
            return plan.targets().getOrDefault(job.spec().job(), List.of());
        }

        private void limit(JobState job) {
            List<GpuId> possible = new ArrayList<>();
            Optional<HostRefusal> first = Optional.empty();
            for (GpuId gpu : target(job)) {
                boolean isHeld = job.allocation().gpus().contains(gpu);
                Optional<HostRefusal> refusal = isHeld ? Optional.empty() : against(job, gpu);
                if (refusal.isPresent()) {
                    first = first.or(() -> refusal);
                } else {
                    possible.add(gpu);
                    if (!isHeld) {
                        count(job, gpu);
                    }
                }
            }
            if (first.isPresent()) {
                refuse(job, possible, first.get());
            }
        }

        private Optional<HostRefusal> against(JobState job, GpuId gpu) {
            NodeId node = builder.gpu(gpu).nodeId();
            return left(job, node).against(job, node, 1);
        }

        private HostRoom.HostLeft left(NodeId node) {
            return left.computeIfAbsent(node, any -> room.left(node, Optional.empty(), planned));
        }

        /** The same with the memory of a job that is paused there, which it gives up when it resumes. */
        private HostRoom.HostLeft left(JobState job, NodeId node) {
            HostRoom.HostLeft known = left(node);
            return job.paused()
                    .filter(at -> at.node().equals(node))
                    .map(at -> new HostRoom.HostLeft(
                            known.facts(), known.cpuMillis(), known.memoryBytes() + at.hostMemoryBytes()))
                    .orElse(known);
        }

        /** Counts a unit of a job: with the need of the job, or with the usual share as far as it is left. */
        private void count(JobState job, GpuId gpu) {
            NodeId node = builder.gpu(gpu).nodeId();
            HostRoom.HostLeft before = left(job, node);
            HostNeed need = job.spec().hostNeed();
            HostShare usual = room.usual(builder.gpu(gpu));
            HostShare share = new HostShare(
                    need.cpuMillisPerGpu().orElse(Math.max(0, Math.min(usual.cpuMillis(), before.cpuMillis()))),
                    need.memoryBytesPerGpu().orElse(Math.max(0, Math.min(usual.memoryBytes(), before.memoryBytes()))));
            left.put(node, left(node).without(share));
        }

        private void refuse(JobState job, List<GpuId> possible, HostRefusal refusal) {
            JobId name = job.spec().job();
            List<GpuId> part = shapes.part(job, possible);
            boolean isMore = JobChanges.goesOnWith(job, part.size()) && part.size() > job.gpus();
            List<GpuId> given = isMore ? part : job.allocation().gpus();
            targets.put(name, given);
            refusals.put(name, refusal);
            Optional.ofNullable(reasons.get(name))
                    .ifPresent(why -> reasons.put(name, PlanReason.later(() -> cut(job, given.size(), refusal, why))));
        }

        private static PlanReason cut(JobState job, int given, HostRefusal refusal, PlanReason why) {
            Map<String, Double> numbers = new TreeMap<>(why.numbers());
            numbers.putAll(refusal.numbers());
            String does = Wording.resized(job.gpus(), given, job.usage().largestRun() > 0);
            return new PlanReason(
                    "%s %s: %s; without that: %s".formatted(job.spec().job(), does, refusal.inWords(), why.text()),
                    numbers);
        }
    }
}
