package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobInPool;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.UsableGpus;
import io.lendstream.core.policy.placement.SitePlacement;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/**
 * The units of each queue while the queues of a view are planned one after the other. A queue keeps units of its jobs
 * up to its share; units beyond it, and free ones, go to queues that have less than their share.
 */
final class PoolUnits {
    private final StepBuilder builder;
    private final ClusterView whole;
    /** All units, by node and id. */
    private final List<PoolUnit> units = new ArrayList<>();

    private final Map<GpuId, PoolUnit> byId;
    /** The units that no queue has. */
    private final PoolUnit.Chain rest = new PoolUnit.Chain();
    /** The numbers of the units that each queue has. */
    private final BitSet[] ofQueue;

    private final int[] counts;
    /** The units that are left to each job of those that keep some. */
    private final Map<JobId, List<GpuId>> kept = new HashMap<>();
    /** The waiting jobs whose queue has units that they can start on together. */
    private final Set<JobId> sited = new HashSet<>();

    /** @param queues how many queues share the units of the view */
    PoolUnits(StepBuilder builder, ClusterView whole, int queues) {
        this.builder = builder;
        this.whole = whole;
        this.counts = new int[queues];
        this.ofQueue = new BitSet[queues];
        Arrays.setAll(ofQueue, any -> new BitSet(whole.gpuCount()));
        this.byId = new HashMap<>(2 * whole.gpuCount());
        for (GpuState state : whole.gpus()) {
            PoolUnit unit = new PoolUnit(state, units.size());
            units.add(unit);
            byId.put(state.gpuId(), unit);
        }
        for (JobView job : whole.holding()) {
            for (GpuId id : job.gpus()) {
                PoolUnit unit = byId.get(id);
                if (unit != null) {
                    unit.isHeld = true;
                }
            }
        }
        for (int turn = 0; turn <= 2; turn++) {
            for (PoolUnit unit : units) {
                if (unit.turn() == turn) {
                    rest.add(unit);
                }
            }
        }
    }

    /** How many units a queue has. */
    int count(int queue) {
        return counts[queue];
    }

    /**
     * Leaves a queue so many units of those of its jobs that keep none so far. A job that cannot shrink keeps all or
     * none.
     */
    void keep(int queue, List<JobView> jobs, int more) {
        int left = more;
        for (Rank rank : byRank(jobs)) {
            JobView job = rank.job();
            int all = 0;
            List<PoolUnit> here = new ArrayList<>();
            for (GpuId id : job.gpus()) {
                PoolUnit unit = byId.get(id);
                all += unit == null ? 0 : 1;
                if (unit != null && unit.queue == PoolUnit.NONE) {
                    here.add(unit);
                }
            }
            boolean isFixed = whole.fixed().contains(job.job());
            int most = isFixed ? here.size() : Math.min(here.size(), Math.max(0, left));
            boolean goesOn = isFixed || most == all || (job.elastic() && most >= job.least());
            if (goesOn) {
                kept.put(job.job(), most == all ? job.gpus() : keptOf(job, here.subList(0, most)));
                Optional<JobId> keeper = Optional.of(job.job());
                for (PoolUnit unit : here.subList(0, most)) {
                    give(queue, unit);
                    unit.keeper = keeper;
                }
                left -= most;
            }
        }
    }

    /** The GPUs of a job without those of the view that it does not keep. */
    private List<GpuId> keptOf(JobView job, List<PoolUnit> some) {
        List<GpuId> left = new ArrayList<>();
        for (GpuId id : job.gpus()) {
            PoolUnit unit = byId.get(id);
            if (unit == null || some.contains(unit)) {
                left.add(id);
            }
        }
        return List.copyOf(left);
    }

    /** What decides which of several jobs keeps its GPUs first: fixed ones, by priority, by their start. */
    private record Rank(JobView job, boolean isFixed, int priority, Instant startedAt) implements Comparable<Rank> {
        @Override
        public int compareTo(Rank other) {
            int order = Boolean.compare(other.isFixed, isFixed);
            if (order == 0) {
                order = Integer.compare(other.priority, priority);
            }
            if (order == 0) {
                order = startedAt.compareTo(other.startedAt);
            }
            return order == 0 ? job.job().compareTo(other.job.job()) : order;
        }
    }

    /** Jobs that hold GPUs and keep none so far, in the order in which they keep them. */
    private List<Rank> byRank(List<JobView> jobs) {
        List<Rank> ranks = new ArrayList<>();
        for (JobView job : jobs) {
            if (!job.gpus().isEmpty() && !kept.containsKey(job.job())) {
                JobState state = builder.jobs().require(job.job());
                ranks.add(new Rank(
                        job,
                        whole.fixed().contains(job.job()),
                        builder.entities().priorityOf(state),
                        state.usage().startedAt().orElse(Instant.MAX)));
            }
        }
        Collections.sort(ranks);
        return ranks;
    }

    private void give(int queue, PoolUnit unit) {
        rest.remove(unit);
        unit.queue = queue;
        ofQueue[queue].set(unit.number);
        counts[queue]++;
    }

    /**
     * Gives waiting jobs that have rules about their nodes units that they can start on together, as far as the share
     * of their queue allows.
     *
     * @param least the fewest units that a job starts with
     */
    void fillSites(int queue, List<JobView> jobs, int share, ToIntFunction<JobView> least) {
        for (JobView job : jobs) {
            int size = waitsForSite(job) && !sited.contains(job.job()) ? size(job, share - count(queue), least) : 0;
            if (size > 0) {
                List<GpuState> left = new ArrayList<>();
                rest.first(rest.size()).forEach(unit -> left.add(unit.state));
                List<GpuId> gpus = new SitePlacement(left, Set.of()).place(job, size);
                if (gpus.size() >= least.applyAsInt(job)) {
                    sited.add(job.job());
                    gpus.forEach(id -> give(queue, Objects.requireNonNull(byId.get(id), "a unit of the view")));
                }
            }
        }
    }

    /** The most units that a waiting job could get of those that are left; 0 if they are too few. */
    private int size(JobView job, int more, ToIntFunction<JobView> least) {
        int size = job.fit(Math.min(Math.min(job.most(), more), rest.size()));
        return size >= least.applyAsInt(job) ? size : 0;
    }

    private static boolean waitsForSite(JobView job) {
        return job.gpus().isEmpty() && job.site().isPresent();
    }

    /** Gives a queue more units for its other jobs, until it has so many, or these have enough, or none is left. */
    void fill(int queue, List<JobView> jobs, int share, ToIntFunction<JobView> most) {
        int more = share - count(queue);
        if (more > 0 && SitePlacement.isNeeded(jobs)) {
            int wanted = 0;
            for (JobView job : jobs) {
                wanted += waitsForSite(job)
                        ? 0
                        : Math.max(0, most.applyAsInt(job) - left(job).size());
            }
            more = Math.min(more, wanted);
        }
        rest.first(more).forEach(unit -> give(queue, unit));
    }

    /** What a policy sees of a queue: units that no plan has taken, and jobs with the units that are left to them. */
    ClusterView view(int queue, List<JobView> jobs) {
        Set<JobId> names = new HashSet<>();
        jobs.forEach(job -> names.add(job.job()));
        List<GpuState> open = new ArrayList<>(counts[queue]);
        BitSet shown = new BitSet(units.size());
        BitSet mine = ofQueue[queue];
        for (int i = mine.nextSetBit(0); i >= 0; i = mine.nextSetBit(i + 1)) {
            PoolUnit unit = units.get(i);
            if (!unit.isTaken && (unit.keeper.isEmpty() || names.contains(unit.keeper.get()))) {
                open.add(unit.state);
                shown.set(i);
            }
        }
        Set<JobId> fixed = new HashSet<>();
        List<JobView> seen = new ArrayList<>();
        List<JobView> holding = new ArrayList<>();
        for (JobView job : jobs) {
            JobView inPool = inPool(job);
            seen.add(inPool);
            if (!inPool.gpus().isEmpty()) {
                holding.add(inPool);
            }
            if (whole.fixed().contains(job.job())) {
                fixed.add(job.job());
            }
        }
        return ClusterView.of(
                whole.now(),
                new ClusterView.Queue(seen, seen.size(), holding),
                UsableGpus.of(open, gpu -> node(gpu, shown)),
                fixed,
                whole.nodes(),
                whole.gpusPerNode());
    }

    private Optional<NodeId> node(GpuId gpu, BitSet among) {
        PoolUnit unit = byId.get(gpu);
        return unit != null && among.get(unit.number) ? Optional.of(unit.state.nodeId()) : Optional.empty();
    }

    /** Whether a job has to give up GPUs. */
    private boolean isCut(JobView job) {
        return !whole.fixed().contains(job.job())
                && left(job).size() < job.gpus().size();
    }

    private List<GpuId> left(JobView job) {
        return kept.getOrDefault(job.job(), List.of());
    }

    private JobView inPool(JobView job) {
        return isCut(job) ? new JobInPool(job, left(job)) : job;
    }

    /**
     * The plan of a queue, in which jobs give up the units that are not left to them.
     *
     * @param pool the numbers of the queue, for reasons
     */
    Plan taken(List<JobView> jobs, Plan plan, PoolShare pool) {
        boolean isChanged = jobs.stream().anyMatch(this::isCut);
        Map<JobId, List<GpuId>> targets = isChanged ? new TreeMap<>(plan.targets()) : plan.targets();
        Map<JobId, PlanReason> reasons = isChanged ? new TreeMap<>(plan.reasons()) : plan.reasons();
        for (JobView job : jobs) {
            if (isCut(job)) {
                List<GpuId> planned = plan.targets().getOrDefault(job.job(), left(job));
                targets.put(job.job(), planned);
                Optional<PlanReason> why = Optional.ofNullable(reasons.get(job.job()));
                int given = job.gpus().size() - left(job).size();
                reasons.put(
                        job.job(),
                        PlanReason.later(() -> givenBack(job.job(), pool.inWords(given), planned.size(), why)));
            }
            for (GpuId id : targets.getOrDefault(job.job(), job.gpus())) {
                PoolUnit unit = byId.get(id);
                if (unit != null) {
                    unit.isTaken = true;
                }
            }
            for (GpuId id : left(job)) {
                PoolUnit unit = byId.get(id);
                if (unit != null) {
                    unit.keeper = Optional.empty();
                }
            }
        }
        return isChanged ? new Plan(targets, reasons, plan.standings(), plan.left(), plan.holdsUntil()) : plan;
    }

    private static PlanReason givenBack(JobId job, String back, int left, Optional<PlanReason> why) {
        return why.map(known -> new PlanReason(known.text() + "; " + back, known.numbers()))
                .orElseGet(() -> new PlanReason(
                        "%s %s: %s"
                                .formatted(
                                        job, left == 0 ? "waits" : "goes on with " + Reason.counted(left, "GPU"), back),
                        Map.of()));
    }

    /** Gives up the units of a queue that its plans have not taken; returns how many these have taken. */
    int release(int queue) {
        int used = 0;
        BitSet mine = ofQueue[queue];
        for (int i = mine.nextSetBit(0); i >= 0; i = mine.nextSetBit(i + 1)) {
            PoolUnit unit = units.get(i);
            if (unit.isTaken) {
                used++;
            } else {
                mine.clear(i);
                unit.queue = PoolUnit.NONE;
                rest.add(unit);
            }
        }
        counts[queue] = used;
        return used;
    }
}
