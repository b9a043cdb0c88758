package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The part of a plan that the quotas of queues allow. Policies do not know queues, so a plan may give the jobs of a
 * queue too much. In the order of submission an elastic job then gets fewer GPUs, and any other job keeps those that it
 * has.
 *
 * @param refusals the jobs that do not get all GPUs of the plan
 */
record QuotaPlan(Map<JobId, List<GpuId>> targets, Map<JobId, PlanReason> reasons, SortedMap<JobId, Refused> refusals) {
    /** The plan of a domain without open jobs. */
    static final QuotaPlan NONE = new QuotaPlan(Map.of(), Map.of(), Collections.emptySortedMap());

    /** GPUs that a job does not get. */
    record Refused(QuotaRefusal refusal, int gpus) {}

    /** The allowed part of a plan: all of it if no queue is declared. */
    static QuotaPlan of(StepBuilder builder, Plan plan) {
        QuotaGuard guard = new QuotaGuard(builder);
        return guard.isOn()
                ? new Selection(builder, guard, plan).select()
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

    /** Goes through the jobs of a plan. */
    private static final class Selection {
        private final StepBuilder builder;
        private final QuotaGuard guard;
        private final Plan plan;
        /** The use of quotas once all GPUs are released that leave their jobs. */
        private final QueueLedger ledger;

        private final Map<JobId, List<GpuId>> targets;
        private final Map<JobId, PlanReason> reasons;
        private final SortedMap<JobId, Refused> refusals = new TreeMap<>();

        Selection(StepBuilder builder, QuotaGuard guard, Plan plan) {
            this.builder = builder;
            this.guard = guard;
            this.plan = plan;
            this.ledger = builder.ledger().withoutLeaving();
            this.targets = new TreeMap<>(plan.targets());
            this.reasons = new TreeMap<>(plan.reasons());
        }

        QuotaPlan select() {
            plan.targets()
                    .forEach((job, target) ->
                            lost(builder.jobs().require(job), target).forEach(ledger::remove));
            plan.targets().keySet().stream()
                    .map(job -> builder.jobs().require(job))
                    .sorted(Comparator.comparing((JobState job) -> job.spec().submittedAt())
                            .thenComparing(job -> job.spec().job()))
                    .forEach(this::limit);
            return new QuotaPlan(targets, reasons, refusals);
        }

        private static List<GpuId> lost(JobState job, List<GpuId> target) {
            return job.allocation().gpus().stream()
                    .filter(gpu -> !target.contains(gpu))
                    .toList();
        }

        private void limit(JobState job) {
            Tenant tenant = new Tenant.Job(job.spec().job());
            Optional<QueueId> queue = guard.queueOf(tenant);
            if (queue.isEmpty()) {
                return;
            }
            List<GpuId> target = plan.targets().getOrDefault(job.spec().job(), List.of());
            List<GpuId> held = job.allocation().gpus();
            List<GpuId> allowed = new ArrayList<>();
            Optional<QuotaRefusal> first = Optional.empty();
            for (GpuId gpu : target) {
                boolean isHeld = held.contains(gpu);
                Optional<QuotaRefusal> refusal =
                        isHeld ? Optional.empty() : guard.against(ledger, tenant, List.of(gpu), List.of());
                if (refusal.isPresent()) {
                    first = first.or(() -> refusal);
                } else {
                    allowed.add(gpu);
                    count(gpu, queue.get());
                }
            }
            if (first.isPresent() && runs(job, allowed)) {
                refuse(job, target, allowed, first.get());
            } else if (first.isPresent()) {
                List<GpuId> gained =
                        target.stream().filter(gpu -> !held.contains(gpu)).toList();
                allowed.stream().filter(gained::contains).forEach(ledger::remove);
                Optional<QuotaRefusal> whole = guard.against(ledger, tenant, gained, List.of());
                lost(job, target).forEach(gpu -> count(gpu, queue.get()));
                refuse(job, target, held, whole.orElse(first.get()));
            }
        }

        private void count(GpuId id, QueueId queue) {
            builder.gpus()
                    .get(id)
                    .ifPresent(unit ->
                            ledger.add(id, queue, unit.kind(), QueueLedger.gpus(builder.entities(), unit), false));
        }

        /** Whether a job runs on a part of its GPUs of the plan, and has more than now. */
        private static boolean runs(JobState job, List<GpuId> part) {
            return JobChanges.goesOnWith(job, part.size()) && part.size() > job.gpus();
        }

        private void refuse(JobState job, List<GpuId> target, List<GpuId> given, QuotaRefusal refusal) {
            JobId name = job.spec().job();
            targets.put(name, List.copyOf(given));
            int gpus = (int) target.stream().filter(gpu -> !given.contains(gpu)).count();
            refusals.put(name, new Refused(refusal, gpus));
            builder.listener().vetoed(name, refusal.inWords());
            Optional.ofNullable(reasons.get(name))
                    .ifPresent(why -> reasons.put(name, PlanReason.later(() -> cut(job, given.size(), refusal, why))));
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
