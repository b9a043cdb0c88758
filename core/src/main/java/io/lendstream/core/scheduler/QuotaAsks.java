package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
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

/**
 * Gives waiting jobs the fewest GPUs that they run on, out of the nominal quota of their queue. Free GPUs come first;
 * then queues of the cohort give what they have beyond their nominal quota. If the GPUs do not suffice for a job, none
 * is taken. The GPUs are promised to the job, and bound when the last of them is free.
 */
final class QuotaAsks {
    private static final double ROUNDING = 1e-6;

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Safety safety;
    private final QuotaGuard guard;

    QuotaAsks(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.safety = new Safety(settings);
        this.guard = new QuotaGuard(builder);
    }

    /** Decides what queues may claim now. */
    void run() {
        if (!guard.isOn() || safety.againstChanges(builder).isPresent()) {
            return;
        }
        new LimitReturns(builder, settings).run();
        ReplicaAsks replicas = new ReplicaAsks(builder, policy, settings);
        if (!isDue() && !replicas.isShort()) {
            return;
        }
        new FloorAsks(builder, settings).run();
        replicas.run();
        List<JobState> waiting = waiting();
        if (!waiting.isEmpty()) {
            Round round = new Round();
            waiting.forEach(round::ask);
        }
    }

    /**
     * Whether the event, or this step, has changed claims. Rates, forecasts, samples and reports that change no owner
     * do not: loans may become possible by a rate, but the jobs wait for the next plan then.
     */
    private boolean isDue() {
        Event event = builder.event();
        return builder.matters()
                || event.isTick()
                || event.asJob().isPresent()
                || event.asService().isPresent()
                || event.asNode().isPresent()
                || event.asQueue().isPresent()
                || event.asCommand().isPresent()
                || event.asStarted().isPresent();
    }

    /** The reason for a job that gets the GPUs that were promised to it. */
    static PlanReason start(JobState job) {
        String gpus = Reason.counted(job.target().size(), "GPU");
        return new PlanReason(
                "%s starts with %s of the nominal quota of its queue"
                        .formatted(job.spec().job(), gpus),
                Map.of());
    }

    /** Jobs of queues that have no GPU and no prospect of one: by priority, then in the order of submission. */
    private List<JobState> waiting() {
        List<JobState> waiting = new ArrayList<>();
        for (JobState job : builder.clusterIndex().jobs().open().values()) {
            if (job.gpus() == 0
                    && !job.isOnSlice()
                    && job.changing().isEmpty()
                    && job.target().isEmpty()
                    && !isJustChanged(job)
                    && !awaitsAnswer(job)
                    && guard.queueOf(new Tenant.Job(job.spec().job())).isPresent()) {
                waiting.add(job);
            }
        }
        waiting.sort(
                Comparator.comparingInt((JobState job) -> -builder.entities().priorityOf(job))
                        .thenComparing(job -> job.spec().submittedAt())
                        .thenComparing(job -> job.spec().job()));
        return waiting;
    }

    /** Whether a job lost its GPUs a short time ago: one that never starts must not take GPUs again and again. */
    private boolean isJustChanged(JobState job) {
        return job.usage().startedAt().isPresent()
                && job.usage().attainedUpTo().plus(settings.notice()).isAfter(builder.now());
    }

    /** Whether a job with a hard deadline waits for its answer, which comes with the next plan. */
    private static boolean awaitsAnswer(JobState job) {
        return job.spec().hardDeadline().isPresent() && job.admission().isEmpty();
    }

    /**
     * GPUs for a job.
     *
     * @param use the use of the quota that they count in
     * @param free GPUs that no tenant has, or that are about to be free
     */
    private record Claim(
            JobState job, ClusterQueue queue, QuotaUse use, List<GpuId> free, List<QuotaVictims.Loss> losses) {
        int lost() {
            int lost = 0;
            for (QuotaVictims.Loss loss : losses) {
                lost += loss.job().gpus() - loss.left().size();
            }
            return lost;
        }
    }

    /** The fewest GPUs that a job runs on; 0 if its shape allows no number. */
    /** The GPUs with which a policy starts a job: its fewest, or all that it asked for. */
    private int least(JobState job) {
        int least = job.spec().shape().atLeast(job.spec().scaling().least());
        int asked = policy.givesAllAskedFor() ? job.spec().scaling().requestedGpus() : 0;
        return Math.max(least, job.spec().shape().atMost(asked));
    }

    /** The GPUs of a claim that its job gets: free ones first. */
    private List<GpuId> target(Claim claim) {
        List<GpuId> units = new ArrayList<>(claim.free());
        claim.losses().forEach(loss -> units.addAll(loss.given()));
        return units.stream().limit(least(claim.job())).sorted().toList();
    }

    /** The claims of an event, one after the other. */
    private final class Round {
        private final QueueLedger kept = guard.kept();
        private final ShapeGuard shapes =
                new ShapeGuard(builder, settings.model().topology());
        private final AbilityGuard abilities = new AbilityGuard(builder);
        private final Bundles bundles = new Bundles(builder);
        private final HostRoom hosts = new HostRoom(builder);
        /** Free units that jobs may have, or that are about to be free; empty until needed, and after a claim. */
        private Optional<List<GpuState>> open = Optional.empty();

        private Optional<List<GpuState>> usable = Optional.empty();
        /** Units that a plan has given to jobs that wait for them. */
        private final Set<GpuId> planned = new HashSet<>();

        /** The fewest GPUs that could not be claimed, by queue and kind: later jobs cannot claim more. */
        private final Map<String, Integer> failed = new HashMap<>();

        private final boolean mayLend =
                settings.lending() && safety.againstLoans(builder).isEmpty();
        private long lendable = LoanLimit.besidePlan(builder, policy, settings).most();

        Round() {
            for (JobState job : builder.clusterIndex().jobs().unsettled().values()) {
                planned.addAll(job.target());
            }
        }

        /** Takes and promises the GPUs of a job on the kind that costs others the fewest GPUs, if it may have them. */
        void ask(JobState job) {
            ClusterQueue queue =
                    builder.entities().queueOf(new Tenant.Job(job.spec().job())).orElseThrow();
            int least = least(job);
            if (least == 0) {
                return;
            }
            boolean isPlain = job.spec().shape().isAny();
            Optional<Claim> best = Optional.empty();
            for (Optional<KindId> kind : kinds(job.spec())) {
                String key = queue.queue() + " " + kind.map(KindId::value).orElse("");
                if (failed.getOrDefault(key, Integer.MAX_VALUE) <= least) {
                    continue;
                }
                Optional<Claim> claim = claim(job, queue, kind);
                if (claim.isEmpty() && isPlain) {
                    failed.merge(key, least, Math::min);
                }
                if (claim.filter(this::mayHave).isPresent()
                        && (best.isEmpty() || claim.get().lost() < best.get().lost())) {
                    best = claim;
                }
            }
            best.ifPresent(this::take);
        }

        /** Whether the GPUs of a claim fit the shape of its job, the abilities of their actuators, and the hosts. */
        private boolean mayHave(Claim claim) {
            List<GpuId> target = target(claim);
            return shapes.allows(claim.job(), target)
                    && loans(target) <= lendable
                    && hosts.against(claim.job(), target, target).isEmpty()
                    && (!abilities.isOn() || (abilities.against(target, target).isEmpty() && mayOpen(target)))
                    && LoanLimit.keepsShare(builder, settings, target);
        }

        private int loans(List<GpuId> target) {
            List<GpuId> lent = new ArrayList<>(target);
            lent.removeIf(unit -> builder.gpu(unit).pool() != Pool.INFERENCE);
            return bundles.loans(lent, new HashSet<>());
        }

        /** Whether the other units of the nodes that are lent whole with a claim are free, and in no other claim. */
        private boolean mayOpen(List<GpuId> target) {
            return bundles.canFollow(target)
                    && bundles.opening(target).stream()
                            .allMatch(unit -> target.contains(unit) || isFree(builder.gpu(unit)));
        }

        private List<Optional<KindId>> kinds(TrainingJob job) {
            PersistentMap<KindId, Integer> known =
                    builder.clusterIndex().trainingCapacity().kinds();
            if (known.size() < 2) {
                Optional<KindId> only = known.firstKey();
                return only.filter(job::excludes).isPresent() ? List.of() : List.of(only);
            }
            List<Optional<KindId>> kinds = new ArrayList<>();
            for (Map.Entry<KindId, Integer> kind : known) {
                if (KindChoice.mayUse(job, kind.getKey())) {
                    kinds.add(Optional.of(kind.getKey()));
                }
            }
            return kinds;
        }

        /** The GPUs of a kind for a job; empty if the quota or the GPUs do not suffice. */
        private Optional<Claim> claim(JobState job, ClusterQueue queue, Optional<KindId> kind) {
            Optional<QuotaUse> use = kept.use(queue.queue(), kind);
            if (use.isEmpty()) {
                return Optional.empty();
            }
            boolean takesOwn = queue.within() == Preemption.LOWER_PRIORITY;
            int least = least(job);
            double room = use.get().nominal() - use.get().used() - guard.keptForFloors(queue.queue());
            double over = least - Math.max(0, room);
            if (over > ROUNDING && !takesOwn) {
                return Optional.empty();
            }
            List<GpuId> free = free(kind, least);
            QuotaVictims victims =
                    new QuotaVictims(builder, kept, QuotaVictims.Wanted.by(builder, job, queue, kind, mayLend));
            int ofOwn = over > ROUNDING ? victims.take(true, (int) Math.ceil(over - ROUNDING)) : 0;
            if (ofOwn < over - ROUNDING) {
                return Optional.empty();
            }
            int missing = least - free.size() - ofOwn;
            missing -= missing > 0 ? victims.take(false, missing) : 0;
            missing -= missing > 0 && takesOwn ? victims.take(true, missing) : 0;
            return missing > 0
                    ? Optional.empty()
                    : Optional.of(new Claim(job, queue, use.get(), free, victims.losses()));
        }

        /**
         * Free GPUs of a kind, at most so many: of the node that has the fewest of those that suffice, if one does.
         * Nodes of training come before loans.
         */
        private List<GpuId> free(Optional<KindId> kind, int most) {
            Map<String, List<GpuId>> byNode = new TreeMap<>();
            long loans = mayLend ? lendable : 0;
            for (GpuState unit : open()) {
                boolean isLoan = unit.pool() == Pool.INFERENCE;
                if (unit.kind().equals(kind) && (!isLoan || loans > 0)) {
                    loans -= isLoan ? 1 : 0;
                    byNode.computeIfAbsent(unit.nodeId().value(), any -> new ArrayList<>())
                            .add(unit.gpuId());
                }
            }
            List<List<GpuId>> nodes = new ArrayList<>(byNode.values());
            nodes.sort(Comparator.comparing((List<GpuId> units) -> units.size() < most)
                    .thenComparing(units -> builder.gpu(units.get(0)).pool() == Pool.INFERENCE)
                    .thenComparingInt(units -> units.size() < most ? -units.size() : units.size()));
            List<GpuId> free = new ArrayList<>();
            for (List<GpuId> units : nodes) {
                free.addAll(units.subList(0, Math.min(units.size(), most - free.size())));
            }
            return free;
        }

        private List<GpuState> open() {
            List<GpuState> known = open.orElseGet(this::listOpen);
            open = Optional.of(known);
            return known;
        }

        private List<GpuState> listOpen() {
            List<GpuState> units = new ArrayList<>();
            for (GpuState listed : usable.orElseGet(this::listUsable)) {
                GpuState unit = builder.gpu(listed.gpuId());
                if (isFree(unit)) {
                    units.add(unit);
                }
            }
            return units;
        }

        /** The units that training had or could get before the first claim. */
        private List<GpuState> listUsable() {
            List<GpuState> units = new TrainingView(builder, settings).view().gpus();
            usable = Optional.of(units);
            return units;
        }

        /** Whether a unit is free for a job, or will be: a loan that comes back is for a service. */
        private boolean isFree(GpuState unit) {
            boolean isComing = unit.owner().isReleasing() && unit.pool() == Pool.TRAINING;
            return (unit.isFree() || unit.owner().isSleeping() || isComing)
                    && !planned.contains(unit.gpuId())
                    && !builder.promises().has(unit.gpuId());
        }

        private void take(Claim claim) {
            open = Optional.empty();
            List<GpuId> target = target(claim);
            lendable -= loans(target);
            builder.put(claim.job().aiming(target)); // victims leave it the host memory that it needs
            for (QuotaVictims.Loss loss : claim.losses()) {
                Instant by = builder.now().plus(settings.notice());
                new JobChanges(builder, settings).change(loss.job(), loss.left(), by, reason(claim, loss));
                loss.job().allocation().gpus().stream()
                        .filter(unit -> !loss.left().contains(unit))
                        .forEach(kept::remove);
            }
            builder.invalidatePlan();
            QueueId queue = claim.queue().queue();
            Tenant tenant = new Tenant.Job(claim.job().spec().job());
            for (GpuId id : target) {
                GpuState unit = builder.gpu(id);
                builder.promises().add(id, tenant, new ReplicaChanges(builder, settings).promisedUntil());
                kept.add(id, queue, unit.kind(), 1, false);
            }
        }

        private Reason reason(Claim claim, QuotaVictims.Loss loss) {
            QueueId theirs = builder.entities()
                    .queueOf(new Tenant.Job(loss.job().spec().job()))
                    .map(ClusterQueue::queue)
                    .orElseThrow();
            Optional<QuotaUse> use = kept.use(theirs, unitKind(loss));
            JobChanges.Returned returned = JobChanges.Returned.of(loss.job(), loss.left());
            Map<String, Double> numbers = new TreeMap<>(returned.numbers(Map.of()));
            numbers.put("asked", (double) least(claim.job()));
            numbers.put("nominal", claim.use().nominal());
            numbers.put("used", claim.use().used());
            use.ifPresent(other -> {
                numbers.put("nominalOfOther", other.nominal());
                numbers.put("usedOfOther", other.used());
            });
            String cause = theirs.equals(claim.queue().queue())
                    ? "%s has a lower priority".formatted(loss.job().spec().job())
                    : "queue %s uses %s"
                            .formatted(theirs, use.map(QuotaUse::inWords).orElse("no quota"));
            return builder.because(
                    ReasonCode.QUOTA,
                    "%s: %s, and %s".formatted(returned.inWords(), wish(claim), cause),
                    numbers,
                    List.of(claim.job().lastEvent(), loss.job().lastEvent()));
        }

        private String wish(Claim claim) {
            return "%s of queue %s asks for %s, its queue uses %s"
                    .formatted(
                            claim.job().spec().job(),
                            claim.queue().queue(),
                            Reason.counted(least(claim.job()), "GPU"),
                            claim.use().inWords());
        }

        private Optional<KindId> unitKind(QuotaVictims.Loss loss) {
            return builder.gpu(loss.given().get(0)).kind();
        }
    }
}
