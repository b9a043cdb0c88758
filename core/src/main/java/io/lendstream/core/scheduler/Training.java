package io.lendstream.core.scheduler;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.JobState;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Owner;
import io.lendstream.core.cluster.Pool;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.lending.ClusterView;
import io.lendstream.core.lending.JobView;
import io.lendstream.core.lending.Plan;
import io.lendstream.core.lending.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Plans training at its times, and moves jobs towards the plan as GPUs become free. */
final class Training {
    private final Draft draft;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Safety safety;

    Training(Draft draft, Policy policy, SchedulerSettings settings) {
        this.draft = draft;
        this.policy = policy;
        this.settings = settings;
        this.safety = new Safety(settings);
    }

    /** Makes a new plan if it is time. */
    void planIfDue() {
        if (draft.nextPlanAt().isPresent() && draft.nextPlanAt().get().isAfter(draft.now())) {
            return;
        }
        boolean first = draft.nextPlanAt().isEmpty();
        draft.nextPlanAt(nextMultiple(draft.now(), policy.planEvery()));
        if (first || view().jobs().isEmpty()) {
            return;
        }
        Optional<String> veto = safety.againstChanges(draft);
        if (veto.isPresent()) {
            hold("held", "no new plan: " + veto.get());
            return;
        }
        Optional<String> noLoans = safety.againstLoans(draft);
        if (settings.lending() && noLoans.isPresent()) {
            hold("stale", "no new loans: " + noLoans.get());
        }
        adopt(policy.plan(view()), noLoans.isEmpty());
    }

    /** What policies may see now. */
    ClusterView view() {
        List<JobState> jobs = draft.jobs().stream()
                .filter(job -> !job.isOver())
                .sorted(Comparator.<JobState, Instant>comparing(
                                job -> job.spec().submittedAt())
                        .thenComparing(job -> job.spec().job()))
                .toList();
        Set<JobId> fixed = jobs.stream()
                .filter(job -> job.changing().isPresent())
                .map(job -> job.spec().job())
                .collect(Collectors.toSet());
        List<GpuState> own = draft.usableGpus(Pool.TRAINING)
                .filter(gpu -> gpu.isFree() || isTraining(gpu))
                .toList();
        List<GpuState> borrowable = settings.lending() ? lendable() : List.of();
        List<GpuState> gpus = Stream.concat(own.stream(), borrowable.stream())
                .sorted(Comparator.comparing(GpuState::nodeId).thenComparing(GpuState::gpuId))
                .toList();
        Map<NodeId, Integer> sizes = nodeSizes();
        int gpusPerNode = sizes.values().stream().max(Integer::compareTo).orElse(1);
        List<JobView> views = jobs.stream()
                .map(job -> JobView.of(
                        job,
                        draft.now(),
                        gpusPerNode,
                        settings.afe() && job.spec().elastic()))
                .toList();
        return new ClusterView(draft.now(), views, gpus, fixed, sizes.size(), gpusPerNode, 0);
    }

    private static boolean isTraining(GpuState gpu) {
        return gpu.owner().holder().filter(Tenant.Job.class::isInstance).isPresent();
    }

    private List<GpuState> lendable() {
        List<GpuState> inference = draft.usableGpus(Pool.INFERENCE).toList();
        int most = (int) Math.floor(settings.maxShareLent() * inference.size());
        List<GpuState> lent = inference.stream()
                .filter(gpu -> isTraining(gpu) && !(gpu.owner() instanceof Owner.Releasing))
                .toList();
        Stream<GpuState> idle = inference.stream()
                .filter(gpu -> gpu.isFree() || gpu.owner() instanceof Owner.Sleeping)
                .sorted(Comparator.<GpuState>comparingInt(gpu -> gpu.isFree() ? 0 : 1)
                        .thenComparing(GpuState::nodeId)
                        .thenComparing(GpuState::gpuId));
        return Stream.concat(lent.stream(), idle.limit(Math.max(0, most - lent.size())))
                .toList();
    }

    private Map<NodeId, Integer> nodeSizes() {
        Map<NodeId, Integer> sizes = new HashMap<>();
        draft.gpus().values().forEach(gpu -> sizes.merge(gpu.nodeId(), 1, Integer::sum));
        return sizes;
    }

    private void adopt(Plan plan, boolean mayLend) {
        plan.standings()
                .forEach((job, standing) -> draft.put(draft.jobs().require(job).standing(standing)));
        int loans = 0;
        long most =
                settings.maxLoansPerMinute() * Math.max(1, policy.planEvery().toMinutes());
        for (Map.Entry<JobId, List<GpuId>> entry : plan.targets().entrySet()) {
            JobState job = draft.jobs().require(entry.getKey());
            Set<GpuId> held = new HashSet<>(job.allocation().gpus());
            List<GpuId> newlyLent = entry.getValue().stream()
                    .filter(gpu -> !held.contains(gpu) && draft.gpu(gpu).pool() == Pool.INFERENCE)
                    .toList();
            Optional<String> veto =
                    newlyLent.isEmpty() ? Optional.empty() : vetoOnLoans(job, mayLend, loans + newlyLent.size(), most);
            if (veto.isPresent()) {
                draft.put(job.aiming(job.allocation().gpus()));
                continue;
            }
            loans += newlyLent.size();
            if (!job.target().equals(entry.getValue())) {
                draft.put(job.aiming(entry.getValue()));
            }
        }
        carryOut(plan.reasons());
    }

    private Optional<String> vetoOnLoans(JobState job, boolean mayLend, long loans, long most) {
        if (!mayLend) {
            return Optional.of("no new loans now");
        }
        if (loans > most) {
            return Optional.of("more than %d loans in one plan".formatted(most));
        }
        return safety.againstLoansTo(job, draft.now());
    }

    private void hold(String code, String text) {
        draft.decide(
                draft.now(),
                draft.because(code, text, Map.of(), Safety.inputs(draft)),
                new Action.Hold(Optional.empty(), Optional.empty()));
    }

    /** Releases what jobs that are over still hold, and moves the others as far as GPUs are free. */
    void carryOut(Map<JobId, String> reasons) {
        for (JobState job : draft.jobs().values()) {
            if (job.isOver() && job.gpus() > 0) {
                String text = "job %s is %s: its GPUs return"
                        .formatted(job.spec().job(), job.phase().name().toLowerCase(java.util.Locale.ROOT));
                change(job, List.of(), "over", text);
            } else if (!job.isOver()
                    && job.changing().isEmpty()
                    && !job.target().equals(job.allocation().gpus())) {
                move(job, Optional.ofNullable(reasons.get(job.spec().job())));
            }
        }
    }

    private void move(JobState job, Optional<String> reason) {
        if (safety.againstChanges(draft).isPresent()) {
            return;
        }
        Set<GpuId> held = new HashSet<>(job.allocation().gpus());
        List<GpuId> gained =
                job.target().stream().filter(gpu -> !held.contains(gpu)).toList();
        boolean possible = gained.stream().allMatch(this::isFreeOrComing);
        if (!possible) {
            draft.put(job.aiming(job.allocation().gpus()));
            return;
        }
        List<GpuId> kept = job.target().stream().filter(held::contains).toList();
        boolean allFree = gained.stream().allMatch(gpu -> draft.gpu(gpu).isFree());
        boolean givesLoansBack = held.stream()
                .anyMatch(gpu -> !job.target().contains(gpu) && draft.gpu(gpu).pool() == Pool.INFERENCE);
        String why = reason.orElse("job %s goes on towards its plan of %s"
                .formatted(job.spec().job(), Reason.counted(job.target().size(), "GPU")));
        if (allFree && (!givesLoansBack || gained.isEmpty())) {
            change(job, job.target(), "plan", why);
        } else {
            wakeUpCall(gained, why);
            if (kept.size() < held.size()) {
                List<GpuId> target = job.target();
                change(job, canRunOn(job, kept.size()) ? kept : List.of(), "plan", why);
                draft.put(draft.jobs().require(job.spec().job()).aiming(target));
            }
        }
    }

    private static boolean canRunOn(JobState job, int gpus) {
        TrainingJob spec = job.spec();
        return gpus >= (spec.elastic() ? spec.minGpus() : spec.requestedGpus());
    }

    private boolean isFreeOrComing(GpuId id) {
        Optional<GpuState> gpu = draft.gpus().get(id);
        return gpu.isPresent()
                && draft.isReachable(gpu.get())
                && (gpu.get().isFree()
                        || gpu.get().owner() instanceof Owner.Sleeping
                        || gpu.get().owner() instanceof Owner.Releasing
                        || isTraining(gpu.get()));
    }

    /** Stops sleeping replicas on GPUs that the plan gives to training. */
    private void wakeUpCall(List<GpuId> gained, String why) {
        Map<ServiceId, List<GpuId>> sleeping = new TreeMap<>();
        for (GpuId gpu : gained) {
            if (draft.gpu(gpu).owner() instanceof Owner.Sleeping idle) {
                sleeping.computeIfAbsent(idle.service(), name -> new ArrayList<>())
                        .add(gpu);
            }
        }
        sleeping.forEach((service, gpus) -> Inference.stop(
                draft, settings, service, gpus, draft.because("plan", why, Map.of(), Safety.inputs(draft))));
    }

    private void change(JobState job, List<GpuId> gpus, String code, String text) {
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("gpusBefore", (double) job.gpus());
        numbers.put("gpusAfter", (double) gpus.size());
        numbers.put("changes", (double) job.changes());
        numbers.put("attainedGpuSeconds", job.attainedBy(draft.now()));
        new JobChanges(draft, settings)
                .change(
                        job,
                        gpus,
                        draft.now().plus(settings.notice()),
                        draft.because(code, text, numbers, List.of(job.lastEvent())));
    }

    /** The first multiple of a period after a time. */
    static Instant nextMultiple(Instant now, Duration period) {
        long millis = period.toMillis();
        return Instant.ofEpochMilli((Math.floorDiv(now.toEpochMilli(), millis) + 1) * millis);
    }
}
