package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobOnNode;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.policy.UsableGpus;
import io.lendstream.core.state.ClusterIndex;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.TrainingCapacity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What policies may see of the jobs, and of the GPUs that training may use.
 *
 * @param onOneNode whether no actuator runs a job on several nodes
 * @param allAskedFor whether the policy starts a job only with all GPUs that it asked for
 */
record TrainingView(StepBuilder builder, SchedulerSettings settings, boolean onOneNode, boolean allAskedFor) {
    TrainingView(StepBuilder builder, SchedulerSettings settings) {
        this(builder, settings, new AbilityGuard(builder).spansNone(), false);
    }

    /** The same for plans of a policy, which may start jobs only with all GPUs that they asked for. */
    TrainingView starting(Policy policy) {
        return new TrainingView(builder, settings, onOneNode, policy.givesAllAskedFor());
    }

    /** What policies may see now: whole GPUs only. */
    ClusterView view() {
        return view(Set.of());
    }

    /**
     * The same, with jobs that a plan has to leave as they are.
     *
     * @param kept jobs that were changed a short time ago
     */
    ClusterView view(Set<JobId> kept) {
        return view(usable(), builder.clusterIndex().trainingCapacity().nodes().size(), largest(), kept);
    }

    /** The GPUs of the largest node. */
    int largest() {
        int largest = 1;
        for (int gpus : builder.clusterIndex().trainingCapacity().nodes().values()) {
            largest = Math.max(largest, gpus);
        }
        return largest;
    }

    /** The jobs that no policy is shown, because they need several nodes and no actuator can give them. */
    Map<JobId, AbilityRefusal> tooLarge() {
        Map<JobId, AbilityRefusal> jobs = new TreeMap<>();
        if (onOneNode) {
            int largest = largest();
            for (JobState job : builder.entities().openJobs()) {
                if (!isShown(job, largest)) {
                    AbilityRefusal why = new AbilityRefusal(
                            Abilities.SPANS_NODES,
                            "%s needs %s, and no actuator runs one job on several nodes"
                                    .formatted(job.spec().job(), Reason.counted(fewest(job), "GPU")));
                    builder.listener().vetoed(job.spec().job(), why.text());
                    jobs.put(job.spec().job(), why);
                }
            }
        }
        return jobs;
    }

    private boolean isShown(JobState job, int gpusPerNode) {
        return job.gpus() > 0 || fewest(job) <= gpusPerNode;
    }

    /** The GPUs that a job starts with: its fewest, or all that it asked for. */
    private int fewest(JobState job) {
        TrainingJob.Scaling scaling = job.spec().scaling();
        return allAskedFor ? scaling.requestedGpus() : scaling.least();
    }

    /** Listed only for who asks, where all of them can be reached and may be lent. */
    private UsableGpus usable() {
        TrainingCapacity capacity = builder.clusterIndex().trainingCapacity();
        if (!settings.lending()
                || !capacity.away().isEmpty()
                || !builder.promises().isEmpty()
                || new AbilityGuard(builder).isOn()
                || new LoanGuard(builder, settings).limitsUnits()) {
            return UsableGpus.of(listed(capacity));
        }
        int kept = Math.max(0, capacity.idle() - Math.max(0, most(capacity.inference()) - capacity.lent()));
        PersistentMap<GpuId, GpuState> gpus = builder.gpus();
        return UsableGpus.of(
                capacity.gpus() - kept,
                () -> listed(capacity),
                capacity.loans(),
                gpu -> gpus.get(gpu).filter(TrainingCapacity::has).map(GpuState::nodeId));
    }

    private List<GpuState> listed(TrainingCapacity capacity) {
        List<GpuState> usable = offered(capacity);
        hide(usable);
        new LoanGuard(builder, settings).hide(usable);
        Set<GpuId> idle = reserve(usable, inference(capacity));
        if (!idle.isEmpty()) {
            usable.removeIf(gpu -> idle.contains(gpu.gpuId()));
        }
        return List.copyOf(usable);
    }

    /** How many whole GPUs inference has on nodes that can be reached. */
    private int inference(TrainingCapacity capacity) {
        if (capacity.away().isEmpty()) {
            return capacity.inference();
        }
        int inference = 0;
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            boolean isOwn = gpu.pool() == Pool.INFERENCE && !gpu.owner().isForeign();
            inference += gpu.isWhole() && isOwn && builder.isReachable(gpu) ? 1 : 0;
        }
        return inference;
    }

    /** The GPUs that training has or may be lent, before abilities and the reserve. */
    private List<GpuState> offered(TrainingCapacity capacity) {
        List<GpuState> usable = new ArrayList<>();
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            boolean may = TrainingCapacity.has(gpu) && (gpu.pool() == Pool.TRAINING || settings.lending());
            if (may && !capacity.away().contains(gpu.nodeId())) {
                usable.add(gpu);
            }
        }
        return usable;
    }

    /** The idle GPUs that no policy is shown because of an actuator's abilities, with the causes. */
    Map<GpuId, AbilityRefusal> withheld() {
        Map<GpuId, AbilityRefusal> withheld = new TreeMap<>(new AbilityGuard(builder).hidden(settings.lending()));
        Bundles bundles = new Bundles(builder);
        if (bundles.exist()) {
            TrainingCapacity capacity = builder.clusterIndex().trainingCapacity();
            List<GpuState> usable = offered(capacity);
            usable.removeIf(gpu -> withheld.containsKey(gpu.gpuId()));
            int most = most(inference(capacity));
            String rule = "%s, so at most %s may be lent".formatted(trust().shareRule(), Reason.counted(most, "GPU"));
            for (GpuId gpu : bundles.beyond(most, usable)) {
                bundles.refusal(List.of(gpu), rule).ifPresent(why -> withheld.put(gpu, why));
            }
        }
        return withheld;
    }

    /** Removes idle GPUs that no driver can give to a job now. */
    private void hide(List<GpuState> usable) {
        Map<GpuId, AbilityRefusal> hidden = new AbilityGuard(builder).hidden(settings.lending());
        if (!hidden.isEmpty()) {
            usable.removeIf(gpu -> hidden.containsKey(gpu.gpuId()));
            hidden.forEach((gpu, why) -> builder.listener().unlent(gpu, why.text()));
        }
        if (!builder.promises().isEmpty()) {
            usable.removeIf(gpu -> builder.promises().has(gpu.gpuId()));
        }
    }

    /**
     * Whether too much of inference would be lent if a job went on with other GPUs now: loans that came after the plan,
     * such as those of claims, count too.
     */
    boolean exceedsShare(JobState job, List<GpuId> next) {
        TrainingCapacity capacity = builder.clusterIndex().trainingCapacity();
        int more = loans(next) - loans(job.allocation().gpus());
        return more > 0 && capacity.lent() + more > most(capacity.inference());
    }

    private int loans(List<GpuId> gpus) {
        int loans = 0;
        for (GpuId id : gpus) {
            Optional<GpuState> gpu = builder.gpus().get(id);
            loans += gpu.isPresent() && gpu.get().isWhole() && gpu.get().pool() == Pool.INFERENCE ? 1 : 0;
        }
        return loans;
    }

    private int most(int inference) {
        return (int) Math.floor(trust().share() * inference);
    }

    private TrustGuard trust() {
        return new TrustGuard(builder, settings);
    }

    private ClusterView view(UsableGpus usable, int nodes, int gpusPerNode, Set<JobId> kept) {
        ClusterIndex clusterIndex = builder.clusterIndex();
        PersistentMap<KindId, Integer> kinds = clusterIndex.trainingCapacity().kinds();
        ScheduledJob.Kinds only = ScheduledJob.Kinds.of(kinds.firstKey());
        Function<JobState, JobView> plain = kinds.size() < 2
                ? job -> seen(job, gpusPerNode, only)
                : job -> seen(job, gpusPerNode, ScheduledJob.Kinds.of(kind(job)));
        Function<JobState, JobView> seen = clusterIndex.jobs().shaped().isEmpty() ? plain : shaped(plain);
        Set<JobId> fixed = new HashSet<>(kept);
        fixed.addAll(builder.promises().jobs());
        for (JobId job : clusterIndex.jobs().changing().values()) {
            if (!builder.jobs().require(job).isOver()) {
                fixed.add(job);
            }
        }
        return ClusterView.of(builder.now(), queue(seen, gpusPerNode), usable, fixed, nodes, gpusPerNode)
                .withBundles(new Bundles(builder).forPolicies());
    }

    /** Jobs in their shapes. */
    private Function<JobState, JobView> shaped(Function<JobState, JobView> plain) {
        TrainingCapacity capacity = builder.clusterIndex().trainingCapacity();
        PersistentMap<KindId, Integer> kinds = capacity.kinds();
        Optional<KindId> only = kinds.size() < 2 ? kinds.firstKey() : Optional.empty();
        ShapeView shapes = new ShapeView(builder, settings.model().topology(), () -> listed(capacity), only);
        return job -> shapes.of(job, plain.apply(job));
    }

    /** The jobs, without those that need several nodes where no actuator can give them, or more than hosts have. */
    private ClusterView.Queue queue(Function<JobState, JobView> seen, int gpusPerNode) {
        ClusterIndex clusterIndex = builder.clusterIndex();
        List<JobView> holding = new ArrayList<>();
        for (JobState job : builder.entities().holdingJobs()) {
            if (!job.isOnSlice()) {
                holding.add(seen.apply(job));
            }
        }
        Set<JobId> unfit = new HostFit(builder, allAskedFor).refusals().keySet();
        if (!onOneNode && unfit.isEmpty()) {
            return new ClusterView.Queue(
                    builder.entities().openJobs(seen),
                    clusterIndex.jobs().open().size(),
                    holding);
        }
        List<JobView> possible = new ArrayList<>();
        for (JobState job : builder.entities().openJobs()) {
            if ((!onOneNode || isShown(job, gpusPerNode))
                    && !unfit.contains(job.spec().job())) {
                possible.add(seen.apply(job));
            }
        }
        return new ClusterView.Queue(possible, possible.size(), holding);
    }

    /** The kind of GPU that a job has, of several; empty if it has none. */
    private Optional<KindId> kind(JobState job) {
        return job.allocation().gpus().isEmpty()
                ? Optional.empty()
                : builder.gpus().get(job.allocation().gpus().get(0)).flatMap(GpuState::kind);
    }

    /** A job as policies see it, on some kinds of GPU. */
    JobView seen(JobState job, int gpusPerNode, ScheduledJob.Kinds on) {
        JobView view = new ScheduledJob(
                job,
                builder.now(),
                gpusPerNode,
                settings.afe() && job.spec().scaling().elastic(),
                on,
                settings.learn());
        return onOneNode ? new JobOnNode(view, gpusPerNode) : view;
    }

    /**
     * Idle GPUs of inference that stay with it, as only a share may be lent; those with sleeping replicas rather than
     * free ones.
     */
    private Set<GpuId> reserve(List<GpuState> usable, int inference) {
        int lent = promisedLoans();
        List<GpuState> idle = new ArrayList<>();
        for (GpuState gpu : usable) {
            if (gpu.pool() == Pool.INFERENCE) {
                if (gpu.isTraining()) {
                    lent++;
                } else {
                    idle.add(gpu);
                }
            }
        }
        int room = Math.max(0, most(inference) - lent);
        Bundles bundles = new Bundles(builder);
        Set<GpuId> kept = bundles.exist()
                ? bundles.beyond(most(inference), usable)
                : idle.size() <= room ? Set.of() : beyond(room, idle);
        if (builder.listener() != StepListener.NONE) {
            builder.listener()
                    .reserved(
                            kept,
                            "%s: of %s of inference on reachable nodes, at most %d may be lent at a time, and %d are; %s"
                                    .formatted(
                                            trust().shareRule(),
                                            Reason.counted(inference, "GPU"),
                                            most(inference),
                                            lent,
                                            trust().shareRemedy()));
        }
        return kept;
    }

    /** GPUs of inference that are promised to jobs. Views do not show them. */
    private int promisedLoans() {
        int promised = 0;
        for (Promise promise : builder.promises().all()) {
            boolean isLoan = promise.tenant().isJob()
                    && builder.gpus()
                            .get(promise.unit())
                            .filter(unit -> unit.pool() == Pool.INFERENCE && unit.isWhole())
                            .isPresent();
            promised += isLoan ? 1 : 0;
        }
        return promised;
    }

    private static Set<GpuId> beyond(int room, List<GpuState> idle) {
        return idle.stream()
                .sorted(Comparator.comparingInt(gpu -> gpu.isFree() ? 0 : 1))
                .skip(room)
                .map(GpuState::gpuId)
                .collect(Collectors.toSet());
    }
}
