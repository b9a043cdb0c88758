package io.lendstream.core.scheduler;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Plans the jobs of each queue apart, on its share of the GPUs, so that a policy that does not know queues cannot give
 * the nominal quota of one queue to others. GPUs that a queue leaves idle go to the queues that are planned after it.
 * If all jobs are of one queue, or of none, the policy sees the whole view.
 */
final class QueuePools {
    private static final double ROUNDING = 1e-6;
    private final StepBuilder builder;
    private final boolean givesAllAskedFor;
    private final Function<ClusterView, Seen> planner;
    private final QuotaGuard guard;
    /** The use of quotas once releases are reported and promises are kept: the same for all kinds. */
    private Optional<QueueLedger> kept = Optional.empty();

    /**
     * @param givesAllAskedFor whether the policy gives a waiting job what it asked for or nothing
     * @param planner plans a view by the policy, and returns the plan with what the policy saw last
     */
    QueuePools(StepBuilder builder, boolean givesAllAskedFor, Function<ClusterView, Seen> planner) {
        this.builder = builder;
        this.givesAllAskedFor = givesAllAskedFor;
        this.planner = planner;
        this.guard = new QuotaGuard(builder);
    }

    /** What a policy saw, and its plan. */
    record Seen(ClusterView view, Plan plan) {}

    /** The jobs of a queue by priority, the highest first; of one group if its jobs take nothing from each other. */
    private record QueuedJobs(Optional<ClusterQueue> queue, SortedMap<Integer, List<JobView>> groups) {
        List<JobView> jobs() {
            List<JobView> jobs = new ArrayList<>();
            groups.values().forEach(jobs::addAll);
            return jobs;
        }
    }

    /**
     * The plan of a view.
     *
     * @param kind the kind of all its GPUs; empty if kinds are not told apart
     * @param seen gets what the policy sees
     */
    Plan plan(ClusterView view, Optional<KindId> kind, List<Seen> seen) {
        List<QueuedJobs> queues = guard.isOn() ? byQueue(view) : List.of();
        if (queues.size() < 2
                && queues.stream().allMatch(queue -> queue.groups().size() < 2)) {
            Seen whole = planner.apply(view);
            seen.add(whole);
            return whole.plan();
        }
        QueueShares shares = shares(view, queues, kind);
        List<PoolShare> pools = pools(view, queues, shares, kind);
        PoolUnits units = units(view, queues, shares);
        List<Plan> plans = new ArrayList<>();
        for (int queue : shares.order()) {
            List<JobView> jobs = queues.get(queue).jobs();
            int more = Math.max(0, useful(jobs) - shares.get(queue));
            int most = shares.get(queue) + Math.min(more, shares.room(queue));
            units.keep(queue, jobs, most - units.count(queue));
            units.fillSites(queue, jobs, most, this::least);
            units.fill(queue, jobs, most, this::most);
            PoolShare pool = pools.get(queue);
            for (List<JobView> group : queues.get(queue).groups().values()) {
                ClusterView part = units.view(queue, group);
                Seen planned = planner.apply(part);
                seen.add(planned);
                plans.add(units.taken(group, planned.plan(), pool));
                pool = pool.after(fitting(group, pool.share() - pool.higher()));
            }
            shares.set(queue, units.release(queue));
        }
        return KindPools.merged(plans);
    }

    /** The numbers of each queue before any is planned. */
    private List<PoolShare> pools(
            ClusterView view, List<QueuedJobs> queues, QueueShares shares, Optional<KindId> kind) {
        double nominal = 0;
        for (QueueState queue : builder.entities().queues().values()) {
            nominal += queue.spec().quota(kind).map(KindQuota::nominalQuota).orElse(0.0);
        }
        List<PoolShare> pools = new ArrayList<>();
        for (int i = 0; i < queues.size(); i++) {
            pools.add(new PoolShare(
                    queues.get(i).queue().map(ClusterQueue::queue),
                    shares.get(i),
                    0,
                    held(queues.get(i).jobs()),
                    view.gpuCount(),
                    nominal));
        }
        return pools;
    }

    /** The units of each queue by its share. Jobs of a high priority keep theirs first. */
    private PoolUnits units(ClusterView view, List<QueuedJobs> queues, QueueShares shares) {
        PoolUnits units = new PoolUnits(builder, view, queues.size());
        for (int queue = 0; queue < queues.size(); queue++) {
            int left = shares.get(queue);
            for (List<JobView> group : queues.get(queue).groups().values()) {
                int share = Math.max(fixed(view, group), fitting(group, left));
                units.keep(queue, group, share);
                left -= share;
            }
        }
        for (int queue = 0; queue < queues.size(); queue++) {
            units.fillSites(queue, queues.get(queue).jobs(), shares.get(queue), this::least);
        }
        for (int queue = 0; queue < queues.size(); queue++) {
            units.fill(queue, queues.get(queue).jobs(), shares.get(queue), this::most);
        }
        return units;
    }

    private List<QueuedJobs> byQueue(ClusterView view) {
        SortedMap<String, QueuedJobs> queues = new TreeMap<>();
        Map<QueueId, Optional<ClusterQueue>> declared = new HashMap<>();
        for (JobView job : view.queue()) {
            JobState state = builder.jobs().require(job.job());
            Optional<ClusterQueue> queue = state.spec()
                    .queue()
                    .flatMap(name -> declared.computeIfAbsent(
                            name, any -> builder.entities().queues().get(name).map(QueueState::spec)));
            boolean isRanked = queue.filter(known -> known.within() == Preemption.LOWER_PRIORITY)
                    .isPresent();
            int priority = isRanked ? builder.entities().priorityOf(state) : 0;
            queues.computeIfAbsent(
                            queue.map(known -> known.queue().value()).orElse(""),
                            any -> new QueuedJobs(queue, new TreeMap<>(Comparator.reverseOrder())))
                    .groups()
                    .computeIfAbsent(priority, any -> new ArrayList<>())
                    .add(job);
        }
        return List.copyOf(queues.values());
    }

    private QueueShares shares(ClusterView view, List<QueuedJobs> queues, Optional<KindId> kind) {
        QueueLedger ledger = kept.orElseGet(guard::kept);
        kept = Optional.of(ledger);
        List<QueueShares.Asker> askers = new ArrayList<>();
        Set<QueueId> asking = new TreeSet<>();
        for (QueuedJobs queue : queues) {
            List<JobView> jobs = queue.jobs();
            int held = held(jobs);
            int useful = useful(jobs);
            Optional<QueueShares.Quota> quota = queue.queue().map(known -> quota(ledger, known, kind, held));
            queue.queue().ifPresent(known -> asking.add(known.queue()));
            double weight = queue.queue().map(ClusterQueue::weight).orElse(1.0);
            int nominal = quota.map(own ->
                            fitting(jobs, (int) Math.max(0, Math.floor(own.nominal() - own.otherUse() + ROUNDING))))
                    .orElse(0);
            askers.add(new QueueShares.Asker(fixed(view, jobs), nominal, useful, weight, quota));
        }
        List<QueueShares.Quota> others = new ArrayList<>();
        for (QueueState queue : builder.entities().queues().values()) {
            if (!asking.contains(queue.spec().queue())) {
                others.add(quota(ledger, queue.spec(), kind, 0));
            }
        }
        return fitted(view.gpuCount(), queues, askers, others);
    }

    /**
     * The shares without GPUs that jobs of a fixed size cannot use, so that others may. What one queue cannot use may
     * suffice for the jobs of another, so that queues which would lose or get nothing give up one after the other.
     */
    private QueueShares fitted(
            int gpus, List<QueuedJobs> queues, List<QueueShares.Asker> askers, List<QueueShares.Quota> others) {
        QueueShares shares = QueueShares.of(gpus, askers, others);
        for (int round = 0; round <= 2 * askers.size(); round++) {
            boolean isFitted = true;
            Optional<Misfit> last = Optional.empty();
            for (int i = 0; i < askers.size(); i++) {
                List<JobView> jobs = queues.get(i).jobs();
                QueueShares.Asker asker = askers.get(i);
                int most = Math.max(asker.fixed(), fitting(jobs, shares.get(i)));
                if (most >= shares.get(i)) {
                    continue;
                }
                int held = held(jobs);
                if (most > 0 && most >= held) {
                    askers.set(i, asker.using(most));
                    isFitted = false;
                } else {
                    Misfit misfit = new Misfit(i, most, held > most, asker.nominal());
                    last = last.filter(other -> Misfit.ORDER.compare(other, misfit) < 0)
                            .or(() -> Optional.of(misfit));
                }
            }
            if (isFitted && last.isPresent()) {
                askers.set(
                        last.get().asker(),
                        askers.get(last.get().asker()).using(last.get().most()));
                isFitted = false;
            }
            if (isFitted) {
                break;
            }
            shares = QueueShares.of(gpus, askers, others);
        }
        return shares;
    }

    /**
     * A queue whose jobs cannot use its share.
     *
     * @param most GPUs of its share that they can use: none, or fewer than they have
     * @param loses whether they have more
     */
    private record Misfit(int asker, int most, boolean loses, int nominal) {
        /** Who gives up first: who loses nothing, then who has the least nominal quota, then the last. */
        private static final Comparator<Misfit> ORDER = Comparator.comparing(Misfit::loses)
                .thenComparing(Misfit::nominal)
                .thenComparing(Misfit::asker, Comparator.reverseOrder());
    }

    /**
     * A queue's quota for a kind. Floors of services count as used.
     *
     * @param held GPUs of its jobs that are to share
     */
    private QueueShares.Quota quota(QueueLedger ledger, ClusterQueue queue, Optional<KindId> kind, int held) {
        Optional<KindQuota> declared = queue.quota(kind);
        if (declared.isEmpty()) {
            return new QueueShares.Quota(Optional.empty(), 0, 0, 0, 0);
        }
        KindQuota quota = declared.get();
        double nominal = quota.nominalQuota();
        double used = ledger.use(queue.queue(), kind).map(QuotaUse::used).orElse(0.0);
        return new QueueShares.Quota(
                queue.cohort()
                        .map(cohort ->
                                cohort + " " + quota.kind().map(KindId::value).orElse("")),
                nominal,
                quota.borrowingLimit().orElse(Double.MAX_VALUE),
                quota.lendingLimit().map(limit -> Math.max(0, nominal - limit)).orElse(0.0),
                Math.max(0, used - held) + guard.keptForFloors(queue.queue()));
    }

    private static int held(List<JobView> jobs) {
        int gpus = 0;
        for (JobView job : jobs) {
            gpus += job.gpus().size();
        }
        return gpus;
    }

    private int useful(List<JobView> jobs) {
        int gpus = 0;
        for (JobView job : jobs) {
            gpus += most(job);
        }
        return gpus;
    }

    private static int fixed(ClusterView view, List<JobView> jobs) {
        int gpus = 0;
        for (JobView job : jobs) {
            gpus += view.fixed().contains(job.job()) ? job.gpus().size() : 0;
        }
        return gpus;
    }

    private int least(JobView job) {
        return givesAllAskedFor && job.gpus().isEmpty() ? job.requestedGpus() : job.least();
    }

    private int most(JobView job) {
        if (!givesAllAskedFor) {
            return job.most();
        }
        return job.gpus().isEmpty() ? job.requestedGpus() : job.gpus().size();
    }

    /** How many of some GPUs the jobs can use: those that have some first, then the earlier ones. */
    private int fitting(List<JobView> jobs, int gpus) {
        int used = 0;
        for (boolean hasSome : List.of(true, false)) {
            for (JobView job : jobs) {
                int most = hasSome == job.gpus().isEmpty() ? 0 : job.fit(Math.min(most(job), gpus - used));
                used += most >= least(job) ? most : 0;
            }
        }
        return used;
    }
}
