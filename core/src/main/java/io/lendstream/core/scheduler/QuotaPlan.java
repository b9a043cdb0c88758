package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The part of a plan that the quotas of queues allow. Policies do not know queues, so a plan may give the jobs of a
 * queue too much. In the order of priority and submission an elastic job then gets fewer GPUs, and any other job keeps
 * those that it has. A job that waits is refused too if its queue has no quota left for it.
 *
 * @param refusals the jobs that do not get all GPUs of the plan
 */
record QuotaPlan(Map<JobId, List<GpuId>> targets, Map<JobId, PlanReason> reasons, SortedMap<JobId, Refused> refusals) {
    /** The plan of a domain without open jobs. */
    static final QuotaPlan NONE = new QuotaPlan(Map.of(), Map.of(), Collections.emptySortedMap());

    /** GPUs that a job does not get. */
    record Refused(QuotaRefusal refusal, int gpus) {}

    /** The allowed part of a plan: all of it if no queue is declared. */
    static QuotaPlan of(StepBuilder builder, ShapeGuard shapes, Plan plan) {
        QuotaGuard guard = new QuotaGuard(builder);
        return guard.isOn()
                ? new Selection(builder, guard, shapes, plan).select()
                : new QuotaPlan(plan.targets(), plan.reasons(), new TreeMap<>());
    }

    /** Decides a hold for each queue that refuses another number of GPUs than before. */
    void hold(StepBuilder builder) {
        QuotaGuard guard = new QuotaGuard(builder);
        for (QueueState queue : builder.entities().queues().values()) {
            QueueId name = queue.spec().queue();
            SortedMap<JobId, Refused> theirs = new TreeMap<>(refusals);
            theirs.values().removeIf(refused -> !refused.refusal().queue().equals(name));
            int gpus = theirs.values().stream().mapToInt(Refused::gpus).sum();
            if (gpus != queue.refusedGpus()) {
                builder.put(queue.refusingGpus(gpus));
                theirs.values().stream()
                        .findFirst()
                        .ifPresent(first -> guard.hold(first.refusal(), theirs.keySet(), Set.of(), gpus));
            }
        }
    }

    /**
     * A job of a plan: jobs of a high priority come first, then those that were submitted first.
     *
     * @param queue its queue, if it is declared
     * @param target its GPUs of the plan
     * @param gained those of them that it does not hold
     * @param lost the GPUs that the plan takes from it
     */
    private record Planned(
            JobState job,
            Optional<QueueId> queue,
            int priority,
            List<GpuId> target,
            List<GpuId> gained,
            List<GpuId> lost)
            implements Comparable<Planned> {
        static Planned of(JobState job, Optional<QueueId> queue, int priority, List<GpuId> target) {
            List<GpuId> held = job.allocation().gpus();
            // A job without GPUs in the plan keeps its MIG instance.
            boolean keepsSlice = job.isOnSlice() && target.isEmpty();
            return new Planned(
                    job, queue, priority, target, beside(held, target), keepsSlice ? List.of() : beside(target, held));
        }

        /** Those of some GPUs that are not among others. A job mostly keeps its first ones. */
        private static List<GpuId> beside(List<GpuId> others, List<GpuId> some) {
            int alike = 0;
            while (alike < some.size()
                    && alike < others.size()
                    && some.get(alike).equals(others.get(alike))) {
                alike++;
            }
            List<GpuId> beside = new ArrayList<>();
            for (GpuId gpu : some.subList(alike, some.size())) {
                if (!others.contains(gpu)) {
                    beside.add(gpu);
                }
            }
            return beside;
        }

        JobId name() {
            return job.spec().job();
        }

        List<GpuId> held() {
            return job.allocation().gpus();
        }

        /** Whether it runs on a part of its target, and has more than now or is to shrink. */
        boolean runsOn(List<GpuId> part) {
            return JobChanges.goesOnWith(job, part.size()) && (part.size() > job.gpus() || target.size() < job.gpus());
        }

        @Override
        public int compareTo(Planned other) {
            int order = Integer.compare(other.priority, priority);
            if (order == 0) {
                order = job.spec().submittedAt().compareTo(other.job.spec().submittedAt());
            }
            return order == 0 ? name().compareTo(other.name()) : order;
        }
    }

    /**
     * Goes through the jobs of a plan. A job that keeps its GPUs may block others, for which the plan has them: then it
     * goes through the plan again.
     */
    private static final class Selection {
        private final StepBuilder builder;
        private final QuotaGuard guard;
        private final ShapeGuard shapes;
        private final Plan plan;
        private final List<Planned> jobs = new ArrayList<>();
        /** Jobs that keep what they have, although the plan gives some of it to others; with the cause. */
        private final Map<JobId, QuotaRefusal> keeping = new HashMap<>();

        private final Map<GpuId, QuotaRefusal> kept = new HashMap<>();
        private final Map<JobId, List<GpuId>> targets = new TreeMap<>();
        private final Map<JobId, PlanReason> reasons = new TreeMap<>();
        private final SortedMap<JobId, Refused> refusals = new TreeMap<>();
        /** The use of quotas once all GPUs are released that leave their jobs. */
        private QueueLedger ledger;

        Selection(StepBuilder builder, QuotaGuard guard, ShapeGuard shapes, Plan plan) {
            this.builder = builder;
            this.guard = guard;
            this.shapes = shapes;
            this.plan = plan;
            this.ledger = builder.ledger();
            plan.targets().forEach((name, target) -> {
                JobState job = builder.jobs().require(name);
                int priority = builder.entities().priorityOf(job);
                jobs.add(Planned.of(job, queueOf(job), priority, target));
            });
            Collections.sort(jobs);
        }

        /** The queue of a job, if it is declared. */
        private Optional<QueueId> queueOf(JobState job) {
            return job.spec().queue().filter(builder.entities().queues()::contains);
        }

        QuotaPlan select() {
            int before;
            do {
                before = keeping.size();
                restart();
                jobs.forEach(this::limit);
            } while (keeping.size() > before);
            for (JobState job : builder.entities().openJobs()) {
                if (isWaiting(job)) {
                    refuseWaiting(job);
                }
            }
            refusals.forEach((job, refused) ->
                    builder.listener().vetoed(job, refused.refusal().inWords()));
            targets.keySet().removeIf(builder.promises()::has);
            return new QuotaPlan(targets, reasons, refusals);
        }

        private void restart() {
            targets.clear();
            targets.putAll(plan.targets());
            reasons.clear();
            reasons.putAll(plan.reasons());
            refusals.clear();
            ledger = builder.ledger().withoutLeaving();
            for (Planned job : jobs) {
                if (!keeping.containsKey(job.name())) {
                    job.lost().forEach(ledger::remove);
                }
            }
            for (Promise promise : builder.promises().all()) {
                guard.queueOf(promise.tenant()).ifPresent(queue -> count(promise.unit(), queue));
            }
        }

        /** Whether a job waits and the plan has nothing for it. */
        private boolean isWaiting(JobState job) {
            JobId name = job.spec().job();
            return job.gpus() == 0
                    && job.spec().queue().isPresent()
                    && targets.getOrDefault(name, List.of()).isEmpty()
                    && !refusals.containsKey(name)
                    && !builder.promises().has(name);
        }

        /** Adds a refusal if the quotas of its queue are too small now for the fewest GPUs of a job. */
        private void refuseWaiting(JobState job) {
            Tenant tenant = new Tenant.Job(job.spec().job());
            Optional<QueueId> queue = queueOf(job);
            if (queue.isEmpty()) {
                return;
            }
            int least = job.spec().scaling().least();
            int floors = guard.floors(tenant, queue.get());
            List<QuotaUse> uses = guard.uses(ledger, queue.get());
            boolean isAllowed =
                    uses.stream().anyMatch(use -> use.keeping(floors).takes(least));
            if (!isAllowed) {
                QuotaRefusal refusal = new QuotaRefusal(queue.get(), uses, floors);
                refusals.put(job.spec().job(), new Refused(refusal, least));
            }
        }

        private void limit(Planned job) {
            if (job.queue().isEmpty() && kept.isEmpty()) {
                return;
            }
            Optional<QuotaRefusal> keeps = Optional.ofNullable(keeping.get(job.name()));
            if (keeps.isPresent()) {
                refuse(job, shapes.part(job.job(), job.held()), keeps.get());
                return;
            }
            List<GpuId> gained = job.gained();
            if (Collections.disjoint(kept.keySet(), gained)
                    && against(job, gained).isEmpty()) {
                job.queue().ifPresent(of -> job.target().forEach(gpu -> count(gpu, of)));
                return;
            }
            List<GpuId> allowed = new ArrayList<>();
            Optional<QuotaRefusal> first = Optional.empty();
            for (GpuId gpu : job.target()) {
                Optional<QuotaRefusal> refusal = gained.contains(gpu) ? against(job, gpu) : Optional.empty();
                if (refusal.isPresent()) {
                    first = first.or(() -> refusal);
                } else {
                    allowed.add(gpu);
                    job.queue().ifPresent(of -> count(gpu, of));
                }
            }
            List<GpuId> part = shapes.part(job.job(), allowed);
            if (first.isPresent() && job.runsOn(part)) {
                allowed.stream().filter(gpu -> !part.contains(gpu)).forEach(ledger::remove);
                refuse(job, part, first.get());
            } else if (first.isPresent()) {
                keepHeld(job, allowed, first.get());
            }
        }

        private Optional<QuotaRefusal> against(Planned job, GpuId gpu) {
            return Optional.ofNullable(kept.get(gpu)).or(() -> against(job, List.of(gpu)));
        }

        private Optional<QuotaRefusal> against(Planned job, List<GpuId> gained) {
            return job.queue()
                    .flatMap(queue -> guard.against(ledger, new Tenant.Job(job.name()), queue, gained, List.of()));
        }

        /** A job keeps what it has. GPUs that it would have lost are no more there for others. */
        private void keepHeld(Planned job, List<GpuId> allowed, QuotaRefusal first) {
            List<GpuId> gained = job.gained();
            allowed.stream().filter(gained::contains).forEach(ledger::remove);
            QuotaRefusal whole = against(job, gained).orElse(first);
            List<GpuId> lost = job.lost();
            job.queue().ifPresent(queue -> lost.forEach(gpu -> count(gpu, queue)));
            if (!lost.isEmpty()) {
                keeping.put(job.name(), whole);
                lost.forEach(gpu -> kept.put(gpu, whole));
            }
            refuse(job, shapes.part(job.job(), job.held()), whole);
        }

        private void count(GpuId id, QueueId queue) {
            if (ledger.keeps(id, queue)) {
                return;
            }
            builder.gpus()
                    .get(id)
                    .ifPresent(unit ->
                            ledger.add(id, queue, unit.kind(), QueueLedger.gpus(builder.entities(), unit), false));
        }

        private void refuse(Planned job, List<GpuId> given, QuotaRefusal refusal) {
            targets.put(job.name(), List.copyOf(given));
            int gpus = (int)
                    job.target().stream().filter(gpu -> !given.contains(gpu)).count();
            refusals.put(job.name(), new Refused(refusal, gpus));
            Optional.ofNullable(reasons.get(job.name()))
                    .ifPresent(why -> reasons.put(
                            job.name(), PlanReason.later(() -> cut(job.job(), given.size(), refusal, why))));
        }

        /** The reason for a job that gets a part of its GPUs of the plan. */
        private static PlanReason cut(JobState job, int given, QuotaRefusal refusal, PlanReason why) {
            Map<String, Double> numbers = new TreeMap<>(why.numbers());
            numbers.putAll(refusal.numbers());
            String does = Wording.resized(job.gpus(), given, job.usage().largestRun() > 0);
            return new PlanReason(
                    "%s %s: %s; without its quota: %s".formatted(job.spec().job(), does, refusal.inWords(), why.text()),
                    numbers);
        }
    }
}
