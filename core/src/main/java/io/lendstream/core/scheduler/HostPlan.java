package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.PausedAt;
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
 * has; any other job keeps those that it has, also if the plan gives them to others. So does each job under a policy
 * that gives all GPUs that a job asked for or none: the next plan would take the part back. A pause that is in the way
 * of a job of the plan ends: it would keep the memory for as long as policies prefer that job.
 *
 * @param refusals the jobs that do not get all GPUs of the plan, and those that no policy is shown
 * @param ends the paused jobs whose memory others need, with the refusals of these
 */
record HostPlan(Plan plan, SortedMap<JobId, HostRefusal> refusals, SortedMap<JobId, HostRefusal> ends) {
    /**
     * The possible part of a plan: all of it if no node reports its CPU or host memory.
     *
     * @param allAskedFor whether the policy gives a job all GPUs that it asked for or none
     */
    static HostPlan of(StepBuilder builder, ShapeGuard shapes, Plan plan, boolean allAskedFor) {
        HostRoom room = new HostRoom(builder);
        return room.isOn()
                ? new Selection(builder, room, shapes, plan, allAskedFor).select()
                : new HostPlan(plan, Collections.emptySortedMap(), Collections.emptySortedMap());
    }

    /** Decides one hold for all that the plan leaves out, and ends the pauses that are in its way. */
    void hold(StepBuilder builder, SchedulerSettings settings) {
        if (refusals.isEmpty()) {
            return;
        }
        ends.forEach((name, why) -> {
            JobState job = builder.jobs().require(name);
            if (job.paused().isEmpty() || job.changing().isPresent()) {
                return;
            }
            Reason reason = builder.because(
                    ReasonCode.HOST,
                    "the pause of %s ends: %s".formatted(name, why.inWords()),
                    why.numbers(),
                    List.of(job.lastEvent()));
            new JobChanges(builder, settings)
                    .change(job, List.of(), builder.now().plus(settings.notice()), reason);
        });
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
        private final boolean allAskedFor;
        private final Map<JobId, List<GpuId>> targets;
        private final Map<JobId, PlanReason> reasons;
        private final SortedMap<JobId, HostRefusal> refusals = new TreeMap<>();
        private final SortedMap<JobId, HostRefusal> ends = new TreeMap<>();
        private final List<JobState> jobs;
        private final Plan plan;
        /** The units that jobs of the plan have or get; they are counted job by job. */
        private final Set<GpuId> planned = new HashSet<>();
        /** What is left of nodes, once units are released that leave their jobs. */
        private final Map<NodeId, HostRoom.HostLeft> left = new HashMap<>();

        Selection(StepBuilder builder, HostRoom room, ShapeGuard shapes, Plan plan, boolean allAskedFor) {
            this.builder = builder;
            this.room = room;
            this.shapes = shapes;
            this.allAskedFor = allAskedFor;
            this.plan = plan;
            this.targets = new TreeMap<>(plan.targets());
            this.reasons = new TreeMap<>(plan.reasons());
            this.jobs = plan.targets().keySet().stream()
                    .map(job -> builder.jobs().require(job))
                    .sorted(jobsByTurn())
                    .toList();
            plan.targets().values().forEach(planned::addAll);
            jobs.forEach(job -> planned.addAll(job.allocation().gpus()));
        }

        private Comparator<JobState> jobsByTurn() {
            return Comparator.comparingInt((JobState job) -> -builder.entities().priorityOf(job))
                    .thenComparing(job -> job.spec().submittedAt())
                    .thenComparing(job -> job.spec().job());
        }

        HostPlan select() {
            for (JobState job : jobs) {
                List<GpuId> kept = new ArrayList<>(target(job));
                kept.retainAll(job.allocation().gpus());
                kept.forEach(gpu -> count(job, gpu));
            }
            jobs.forEach(this::limit);
            while (jobs.stream().anyMatch(this::givesUpKept)) {
                // each time one job more keeps what it has
            }
            refusals.putAll(new HostFit(builder, allAskedFor).refusals());
            refusals.forEach((job, refusal) -> builder.listener().vetoed(job, refusal.inWords()));
            return new HostPlan(
                    new Plan(targets, reasons, plan.standings(), plan.left(), plan.holdsUntil()), refusals, ends);
        }

        private List<GpuId> target(JobState job) {
            return plan.targets().getOrDefault(job.spec().job(), List.of());
        }

        private void limit(JobState job) {
            List<GpuId> possible = new ArrayList<>();
            Optional<HostRefusal> first = Optional.empty();
            Map<NodeId, Long> missing = new TreeMap<>();
            boolean isMemory = true;
            for (GpuId gpu : target(job)) {
                boolean isHeld = job.allocation().gpus().contains(gpu);
                Optional<HostRefusal> refusal = isHeld ? Optional.empty() : against(job, gpu);
                if (refusal.isPresent()) {
                    first = first.or(() -> refusal);
                    missing.merge(builder.gpu(gpu).nodeId(), refusal.get().asked(), Long::sum);
                    isMemory &= refusal.get().resource() == HostRefusal.Resource.MEMORY;
                } else {
                    possible.add(gpu);
                    if (!isHeld) {
                        count(job, gpu);
                    }
                }
            }
            if (first.isPresent()) {
                HostRefusal refusal = first.get();
                if (isMemory) {
                    inTheWay(job, missing).forEach(paused -> ends.put(paused, refusal));
                }
                refuse(job, possible, refusal);
            }
        }

        /**
         * Paused jobs that do not resume by the plan and without which a job would have the memory, the least urgent
         * first; none if it would not have it without them either.
         *
         * @param missing what it needs on nodes that do not have it
         */
        private List<JobId> inTheWay(JobState job, Map<NodeId, Long> missing) {
            List<JobState> paused = builder.clusterIndex().jobs().paused().stream()
                    .filter(other -> isIdle(other)
                            && !other.spec().job().equals(job.spec().job()))
                    .sorted(jobsByTurn().reversed())
                    .toList();
            List<JobId> found = new ArrayList<>();
            for (Map.Entry<NodeId, Long> node : missing.entrySet()) {
                long wanted = node.getValue() - left(job, node.getKey()).memoryBytes();
                for (JobState other : paused) {
                    PausedAt at = other.paused().orElseThrow();
                    if (wanted > 0 && at.node().equals(node.getKey())) {
                        wanted -= at.hostMemoryBytes();
                        found.add(other.spec().job());
                    }
                }
                if (wanted > 0) {
                    return List.of();
                }
            }
            return found;
        }

        private boolean isIdle(JobState paused) {
            return !paused.isOver()
                    && paused.changing().isEmpty()
                    && !builder.promises().has(paused.spec().job())
                    && target(paused).isEmpty();
        }

        /** Leaves a job what it has if it would get units that a refused job keeps; whether it has done so. */
        private boolean givesUpKept(JobState job) {
            JobId name = job.spec().job();
            List<GpuId> gained = new ArrayList<>(targets.getOrDefault(name, List.of()));
            gained.removeAll(job.allocation().gpus());
            for (Map.Entry<JobId, HostRefusal> refused : refusals.entrySet()) {
                Set<GpuId> kept = new HashSet<>(targets.getOrDefault(refused.getKey(), List.of()));
                if (!refused.getKey().equals(name) && gained.stream().anyMatch(kept::contains)) {
                    List<GpuId> rest = new ArrayList<>(refusals.containsKey(name) ? List.of() : target(job));
                    rest.removeAll(kept);
                    refuse(job, rest, refused.getValue());
                    return true;
                }
            }
            return false;
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
            boolean isMore = !allAskedFor && JobChanges.goesOnWith(job, part.size()) && part.size() > job.gpus();
            List<GpuId> given = isMore ? part : job.allocation().gpus();
            given.stream()
                    .filter(gpu -> !target(job).contains(gpu) && !refusals.containsKey(name))
                    .forEach(gpu -> count(job, gpu));
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
