package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobInPool;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueuePosition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Plans training where a domain has GPUs of several kinds: each kind is planned apart. Its jobs are those that the
 * policy chooses, if it knows kinds and a job declares speeds on them; otherwise those that {@link KindChoice} gives to
 * it. If all GPUs are of one kind that no job excludes, the policy sees the whole domain. Kinds that training may not
 * use now count too, so that no job gets too little memory while they are busy.
 */
final class KindPools {
    private static final int MOST_PLANS_AGAIN = 4;

    private final StepBuilder builder;
    private final Policy policy;
    private final TrainingView training;
    private final QueuePools queues;

    /** The plan of a kind, or of all GPUs, with what the policy saw for each queue. */
    private record PoolPlan(Optional<KindId> kind, ClusterView view, List<QueuePools.Seen> seen, Plan plan) {}

    KindPools(StepBuilder builder, Policy policy, TrainingView training) {
        this.builder = builder;
        this.policy = policy;
        this.training = training;
        this.queues = new QueuePools(builder, policy.givesAllAskedFor(), this::seen);
    }

    /** The plan of all kinds. */
    Plan plan(ClusterView view) {
        if (isForAll()) {
            PoolPlan whole =
                    planned(builder.clusterIndex().trainingCapacity().kinds().firstKey(), view);
            tell(whole);
            return whole.plan;
        }
        Map<JobId, KindId> kinds = KindChoice.of(builder, training, view);
        Optional<KindChooser> chooser = policy.kinds().filter(any -> knowsSpeeds());
        KindViews views = new KindViews(builder, training, view, chooser.isPresent());
        Map<JobId, KindId> before = Map.copyOf(kinds);
        QueueKinds quotas = new QueueKinds(builder);
        chooser.ifPresent(choosing -> kinds.putAll(choosing.choose(views.of(
                kinds,
                (job, kind) -> view.fixed().contains(job)
                        ? kind.equals(kinds.get(job))
                        : KindChoice.mayUse(spec(job), kind)
                                && quotas.isBest(builder.jobs().require(job), kind)))));
        List<PoolPlan> parts = parts(views, kinds);
        if (takeBack(parts, before, kinds)) {
            parts = parts(views, kinds);
        }
        if (goElsewhere(parts, kinds, quotas)) {
            parts = parts(views, kinds);
        }
        explainUnfit(view, kinds);
        List<Plan> plans = new ArrayList<>();
        for (PoolPlan part : parts) {
            tell(part);
            Plan unmixed = unmixed(part.view, part.plan);
            plans.add(chooser.isPresent() ? withRatios(unmixed, part.kind.orElseThrow()) : unmixed);
        }
        plans.add(unfit(view, kinds));
        return merged(plans);
    }

    /** The plan of each kind with its jobs. */
    private List<PoolPlan> parts(KindViews views, Map<JobId, KindId> kinds) {
        List<PoolPlan> parts = new ArrayList<>();
        views.of(kinds, (job, kind) -> kind.equals(kinds.get(job)))
                .forEach((kind, part) -> parts.add(planned(Optional.of(kind), part)));
        return parts;
    }

    /**
     * Leaves jobs on their kind that would wait on the kind that was chosen for them: sizes are planned apart from
     * kinds, so that a plan may have no GPU for a job there. Returns whether there are any.
     *
     * @param before the kinds of jobs before the policy chose
     * @param kinds the chosen kinds, which are corrected
     */
    private static boolean takeBack(List<PoolPlan> parts, Map<JobId, KindId> before, Map<JobId, KindId> kinds) {
        boolean any = false;
        for (PoolPlan part : parts) {
            for (JobView job : part.view.holding()) {
                Optional<KindId> home = Optional.ofNullable(before.get(job.job()));
                boolean moves = home.isPresent() && !home.equals(part.kind);
                if (moves
                        && part.plan
                                .targets()
                                .getOrDefault(job.job(), job.gpus())
                                .isEmpty()) {
                    kinds.put(job.job(), home.get());
                    any = true;
                }
            }
        }
        return any;
    }

    /**
     * Moves jobs that have no GPUs, and that the plan of their kind leaves no topology domain for, to another kind with
     * a free one. Returns whether there are any.
     */
    private boolean goElsewhere(List<PoolPlan> parts, Map<JobId, KindId> kinds, QueueKinds quotas) {
        boolean any = false;
        if (builder.clusterIndex().jobs().shaped().isEmpty()) {
            return false;
        }
        Optional<FreeDomains> free = Optional.empty();
        for (PoolPlan part : parts) {
            for (JobView job : part.view.open()) {
                boolean waits = job.gpus().isEmpty() && size(part.plan, job) == 0;
                if (waits && job.site().filter(JobSite::needsDomain).isPresent()) {
                    JobState state = builder.jobs().require(job.job());
                    FreeDomains known = free.orElseGet(() -> freeDomains(parts));
                    free = Optional.of(known);
                    Optional<KindId> other = known.take(
                            state,
                            kind -> !part.kind.equals(Optional.of(kind))
                                    && KindChoice.mayUse(state.spec(), kind)
                                    && quotas.isBest(state, kind));
                    other.ifPresent(kind -> kinds.put(job.job(), kind));
                    any |= other.isPresent();
                }
            }
        }
        return any;
    }

    private FreeDomains freeDomains(List<PoolPlan> parts) {
        FreeDomains free = new FreeDomains(builder, training);
        parts.forEach(part -> free.add(part.kind.orElseThrow(), part.view, part.plan));
        return free;
    }

    /** The plan of a view, in which each queue has its share. */
    private PoolPlan planned(Optional<KindId> kind, ClusterView view) {
        List<QueuePools.Seen> seen = new ArrayList<>();
        Plan plan = queues.plan(view, kind, seen);
        return new PoolPlan(kind, view, seen, plan);
    }

    private void tell(PoolPlan part) {
        part.seen.forEach(each -> builder.listener().planned(each.view(), each.plan()));
    }

    /**
     * The plan of a view. A policy counts GPUs, so a job with rules about its nodes may get fewer than the policy meant
     * for it. The policy then plans again with no more GPUs for that job, so that the others are not idle.
     */
    private QueuePools.Seen seen(ClusterView view) {
        ClusterView seen = view;
        Plan plan = policy.plan(seen);
        if (!builder.clusterIndex().jobs().shaped().isEmpty()) {
            for (int again = 0; again < MOST_PLANS_AGAIN; again++) {
                Map<JobId, Integer> bounds = bounds(seen, plan);
                if (bounds.isEmpty()) {
                    break;
                }
                seen = seen.with(job -> Optional.ofNullable(bounds.get(job.job()))
                        .map(most -> upTo(job, most))
                        .orElse(job));
                plan = policy.plan(seen);
            }
        }
        return new QueuePools.Seen(seen, plan);
    }

    /**
     * The most GPUs for jobs with rules about their nodes that could use GPUs of those that a plan leaves, by their
     * number. Growing jobs come first, since other jobs may wait only because the policy counted on too many for them.
     */
    private static Map<JobId, Integer> bounds(ClusterView view, Plan plan) {
        int left = view.gpuCount();
        for (JobView job : view.jobs()) {
            left -= size(plan, job);
        }
        Map<JobId, Integer> growing = new HashMap<>();
        Map<JobId, Integer> waiting = new HashMap<>();
        boolean isWanted = false;
        for (JobView job : view.open()) {
            int size = size(plan, job);
            int held = job.gpus().size();
            boolean hasRules = job.site().isPresent();
            boolean grows = size > 0 && job.next(size) <= Math.min(job.most(), size + left);
            boolean waits = size == 0 && job.least() <= left;
            if (hasRules && grows && Math.max(size, held) < job.most()) {
                growing.put(job.job(), Math.max(size, held));
            } else if (hasRules && waits && held == 0) {
                waiting.put(job.job(), 0);
            }
            isWanted |= waits || (grows && (!hasRules || size < held));
        }
        return isWanted && !growing.isEmpty() ? growing : waiting;
    }

    private static int size(Plan plan, JobView job) {
        return plan.targets().getOrDefault(job.job(), job.gpus()).size();
    }

    /** A job that nodes can give no more GPUs than a number. */
    private static JobView upTo(JobView job, int most) {
        if (job instanceof JobInPool part) {
            return new JobInPool(upTo(part.whole(), most), part.gpus());
        }
        return job instanceof ShapedJob shaped ? shaped.upTo(most) : job;
    }

    private TrainingJob spec(JobId job) {
        return builder.jobs().require(job).spec();
    }

    /** Whether there is one kind at most, and each job may use it. */
    private boolean isForAll() {
        PersistentMap<KindId, Integer> kinds =
                builder.clusterIndex().trainingCapacity().kinds();
        if (kinds.size() > 1) {
            return false;
        }
        Optional<KindId> kind = kinds.firstKey();
        if (kind.isPresent()) {
            for (JobState job : builder.entities().openJobs()) {
                if (job.spec().excludes(kind.get())) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether a job declares its speed on a kind. */
    private boolean knowsSpeeds() {
        for (JobState job : builder.entities().openJobs()) {
            if (!job.spec().kindNeeds().kindTraits().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** The plan in which jobs that hold other kinds too give these up, where the policy leaves them as they are. */
    private static Plan unmixed(ClusterView part, Plan plan) {
        Map<JobId, List<GpuId>> targets = new TreeMap<>(plan.targets());
        Map<JobId, PlanReason> reasons = new TreeMap<>(plan.reasons());
        for (JobView job : part.holding()) {
            if (!(job instanceof JobInPool mixed) || part.fixed().contains(job.job())) {
                continue;
            }
            Optional<PlanReason> changed = Optional.ofNullable(reasons.get(job.job()));
            if (changed.isPresent()) {
                boolean stops = job.gpus().size() < job.least()
                        && targets.getOrDefault(job.job(), job.gpus()).isEmpty();
                reasons.put(
                        job.job(),
                        PlanReason.later(
                                () -> stops ? ofSeveral(mixed, changed.get()) : withOthers(mixed, changed.get())));
                continue;
            }
            int held = job.gpus().size();
            boolean runs = held >= job.least()
                    && targets.getOrDefault(job.job(), job.gpus()).size() == held;
            targets.put(job.job(), runs ? job.gpus() : List.of());
            reasons.put(job.job(), PlanReason.later(() -> ofOneKind(job, runs)));
        }
        return new Plan(targets, reasons, plan.standings(), plan.left(), plan.holdsUntil());
    }

    /** The reason of a policy, which does not know the GPUs of other kinds. */
    private static PlanReason withOthers(JobInPool job, PlanReason why) {
        int others = job.whole().gpus().size() - job.gpus().size();
        return new PlanReason(
                "%s; it gives up %s of another kind".formatted(why.text(), Reason.counted(others, "GPU")),
                why.numbers());
    }

    /** The reason for a job that stops since its GPUs are of several kinds; to the policy it has those of one kind. */
    private static PlanReason ofSeveral(JobInPool job, PlanReason why) {
        return new PlanReason(
                "%s gives up its %s and waits: they are of several kinds now, and a job uses one kind of GPU at a time"
                        .formatted(job.job(), Reason.counted(job.whole().gpus().size(), "GPU")),
                why.numbers());
    }

    private static PlanReason ofOneKind(JobView job, boolean runs) {
        if (job.gpus().isEmpty()) {
            return new PlanReason("%s waits for GPUs of another kind".formatted(job.job()), Map.of());
        }
        String does = runs ? "keeps " + Reason.counted(job.gpus().size(), "GPU") + " of one kind" : "waits";
        return new PlanReason(
                "%s %s: a job uses one kind of GPU at a time, and it has several".formatted(job.job(), does), Map.of());
    }

    /** The plan with the ratios that the speeds on a kind follow from. */
    private Plan withRatios(Plan plan, KindId kind) {
        Map<JobId, PlanReason> reasons = new TreeMap<>(plan.reasons());
        plan.reasons().forEach((job, why) -> {
            Optional<KindRatio> ratio = builder.jobs().require(job).goodput().ratioOn(kind);
            boolean runs = !plan.targets().getOrDefault(job, List.of()).isEmpty();
            ratio.filter(any -> runs)
                    .ifPresent(known -> reasons.put(job, PlanReason.later(() -> withRatio(why, kind, known))));
        });
        return new Plan(plan.targets(), reasons, plan.standings(), plan.left(), plan.holdsUntil());
    }

    private static PlanReason withRatio(PlanReason why, KindId kind, KindRatio ratio) {
        return new PlanReason(
                "%s; not measured on %s, which counts as %.2f x its profile, less %s"
                        .formatted(why.text(), kind, ratio.factor(), Wording.percent(ratio.uncertainty())),
                why.numbers());
    }

    private void explainUnfit(ClusterView view, Map<JobId, KindId> kinds) {
        if (builder.listener() == StepListener.NONE) {
            return;
        }
        for (JobView job : view.jobs()) {
            if (!kinds.containsKey(job.job())) {
                builder.listener().vetoed(job.job(), unfit(spec(job.job())));
            }
        }
    }

    private static String unfit(TrainingJob spec) {
        Optional<Long> slice = spec.sliceMemoryBytes()
                .filter(any -> spec.kindNeeds().memoryBytes().isEmpty());
        Optional<Long> bytes = spec.kindNeeds().memoryBytes().or(() -> slice);
        String allowed = spec.kindNeeds().allowedKinds().isEmpty()
                ? "no kind of GPU of the domain"
                : "no kind of GPU of the domain is one of %s (allowedKinds) and"
                        .formatted(spec.kindNeeds().allowedKinds());
        return bytes.map(least -> "%s has the %.1f GiB that a replica of it needs (%s)"
                        .formatted(
                                allowed,
                                (double) least / (1L << 30),
                                slice.isPresent() ? "sliceMemoryBytes" : "memoryBytes"))
                .orElseGet(() -> allowed + " has the memory for its smallest batch (localMin)");
    }

    /** Jobs on GPUs of a kind that they exclude give these up, if no other kind will do. */
    private static Plan unfit(ClusterView view, Map<JobId, KindId> kinds) {
        Map<JobId, List<GpuId>> targets = new TreeMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        for (JobView job : view.holding()) {
            if (!kinds.containsKey(job.job()) && !view.fixed().contains(job.job())) {
                targets.put(job.job(), List.of());
                reasons.put(
                        job.job(),
                        new PlanReason(
                                "%s waits: it may use no kind of GPU of the domain".formatted(job.job()), Map.of()));
            }
        }
        return new Plan(targets, reasons);
    }

    /** All plans as one. It holds no longer than others: as GPUs become free, a waiting job may go to another kind. */
    static Plan merged(List<Plan> plans) {
        Map<JobId, List<GpuId>> targets = new TreeMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        Map<JobId, QueuePosition> standings = new TreeMap<>();
        List<GpuId> left = new ArrayList<>();
        for (Plan plan : plans) {
            targets.putAll(plan.targets());
            reasons.putAll(plan.reasons());
            standings.putAll(plan.standings());
            left.addAll(plan.left());
        }
        return new Plan(targets, reasons, standings, left, Optional.empty());
    }
}
