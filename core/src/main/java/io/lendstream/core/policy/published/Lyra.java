package io.lendstream.core.policy.published;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.GroupKnapsack;
import io.lendstream.core.policy.placement.SitePlacement;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Starts as many jobs as possible on their least GPUs, the shortest first. Elastic jobs get the rest, where it shortens
 * them most. Extra workers go to lent GPUs, so that a reclaim mostly shrinks jobs and seldom stops one. It needs the
 * run times of jobs.
 *
 * <p>The base demand of a job is its least number of GPUs if it is elastic, else its requested number. The rest is
 * divided by a multiple-choice knapsack: {@code k} extra workers for a job weigh {@code k} and are worth the seconds by
 * which they shorten the job. A reclaim takes extra workers first; then the servers on which it stops the least, where
 * a job counts on each of its lent servers for one over their number, so that a job that is stopped anyway frees all of
 * them.
 *
 * <p>Where the paper leaves things open, or speaks of another cluster: a job that runs keeps its base demand, for only
 * a reclaim stops jobs there; a job that is too large for the rest lets smaller ones pass; each plan chooses the extra
 * workers of all jobs again. GPUs are reclaimed, not whole servers: replicas here need single GPUs. Extra workers are
 * taken in the order of the cost of their servers, so that whole ones still come free; of equal servers, those with
 * fewest lent GPUs first. On the cheapest server jobs are stopped one by one, until that is enough. Idle lent servers
 * come first, but are none of the policy's business: free GPUs go to replicas before anything is reclaimed. This is the
 * paper's policy, not the port in DeepBoot's evaluation, whose knapsack prefers long jobs.
 *
 * @see <a href="https://doi.org/10.1145/3552326.3587445">Li et al., "Lyra: Elastic Scheduling for Deep Learning
 *     Clusters", EuroSys 2023, sections 4 and 5</a>
 */
public record Lyra() implements Policy {
    private static final SizeReasons.SizeRule RULE = new SizeReasons.SizeRule(
            "running jobs come before waiting ones, each by remaining time",
            "further GPUs go where they save all jobs together the most time");

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "lyra",
                "shortest jobs' base demand first, the rest where it shortens jobs most; reclaims the cheapest servers",
                true,
                true,
                false);
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        List<JobView> jobs = cluster.open();
        int[] sizes = new int[jobs.size()];
        int room = cluster.capacity();
        for (int i : shortestFirst(jobs)) {
            int base = base(jobs.get(i));
            if (base <= room) {
                sizes[i] = base;
                room -= base;
            }
        }
        int[] extra = GroupKnapsack.choose(extraValues(jobs, sizes, room), room);
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] += extra[i];
        }
        return new Placing(cluster).plan(jobs, sizes);
    }

    /** GPUs that a job does not start without. */
    private static int base(JobView job) {
        return job.least();
    }

    /** Jobs that run, and then those that wait, by the time that remains with their base demand. */
    private static List<Integer> shortestFirst(List<JobView> jobs) {
        double[] remaining = jobs.stream()
                .mapToDouble(job -> job.pace().remainingSeconds(base(job)))
                .toArray();
        return IntStream.range(0, remaining.length)
                .boxed()
                .sorted(Comparator.<Integer>comparingInt(i -> jobs.get(i).gpus().isEmpty() ? 1 : 0)
                        .thenComparingDouble(i -> remaining[i]))
                .toList();
    }

    /** By job, the seconds by which a number of extra workers shortens it. */
    private static List<double[]> extraValues(List<JobView> jobs, int[] sizes, int room) {
        List<double[]> values = new ArrayList<>();
        for (int i = 0; i < sizes.length; i++) {
            JobView job = jobs.get(i);
            int most = sizes[i] == 0 ? 0 : Math.max(0, Math.min(room, job.most() - sizes[i]));
            double[] reductions = new double[most + 1];
            double before = most == 0 ? 0 : job.pace().remainingSeconds(sizes[i]);
            for (int k = 1; k <= most; k++) {
                double reduction = before - job.pace().remainingSeconds(sizes[i] + k);
                reductions[k] = reduction > 0 && job.allows(sizes[i] + k) ? reduction : Double.NEGATIVE_INFINITY;
            }
            values.add(reductions);
        }
        return values;
    }

    @Override
    public List<GpuId> victims(ClusterView cluster, int count) {
        return new Reclaiming(cluster).victims(count);
    }

    /** It weighs servers and not loans. */
    @Override
    public List<Alternative> losses(ClusterView cluster, int count) {
        return List.of();
    }

    @Override
    public String spec() {
        return "lyra";
    }

    /** Puts base demand on training's own nodes and extra workers on lent ones, as far as each has room. */
    private static final class Placing {
        private final ClusterView cluster;
        private final Set<GpuId> own = new HashSet<>();
        private final Set<GpuId> usable = new HashSet<>();

        Placing(ClusterView cluster) {
            this.cluster = cluster;
            for (GpuState gpu : cluster.gpus()) {
                usable.add(gpu.gpuId());
                if (gpu.pool() == Pool.TRAINING) {
                    own.add(gpu.gpuId());
                }
            }
        }

        Plan plan(List<JobView> jobs, int[] sizes) {
            Map<JobId, List<GpuId>> targets = new TreeMap<>();
            Set<GpuId> taken = new HashSet<>();
            cluster.jobs().stream()
                    .filter(job -> cluster.fixed().contains(job.job()))
                    .forEach(job -> taken.addAll(job.gpus()));
            for (int i = 0; i < sizes.length; i++) {
                if (jobs.get(i).site().isEmpty()) {
                    List<GpuId> kept = kept(jobs.get(i), sizes[i]);
                    taken.addAll(kept);
                    targets.put(jobs.get(i).job(), new ArrayList<>(kept));
                }
            }
            placeSites(jobs, sizes, targets, taken);
            FreeGpusByNode training = rooms(taken, Pool.TRAINING);
            FreeGpusByNode inference = rooms(taken, Pool.INFERENCE);
            List<Integer> largestFirst = IntStream.range(0, sizes.length)
                    .filter(i -> jobs.get(i).site().isEmpty())
                    .boxed()
                    .sorted(Comparator.comparingInt(i -> -base(jobs.get(i))))
                    .toList();
            for (int i : largestFirst) {
                fill(targets, jobs.get(i), Math.min(sizes[i], base(jobs.get(i))), training, inference);
            }
            for (int i : largestFirst) {
                fill(targets, jobs.get(i), sizes[i], inference, training);
            }
            return new Plan(targets, reasons(jobs, sizes));
        }

        /** Places the jobs with rules about their nodes, whose sizes are then what they get. */
        private void placeSites(List<JobView> jobs, int[] sizes, Map<JobId, List<GpuId>> targets, Set<GpuId> taken) {
            if (!SitePlacement.isNeeded(jobs)) {
                return;
            }
            SitePlacement sites = new SitePlacement(cluster.gpus(), taken);
            IntStream.range(0, sizes.length)
                    .filter(i -> jobs.get(i).site().isPresent())
                    .boxed()
                    .sorted(SitePlacement.byTurn(jobs, sizes))
                    .forEach(i -> {
                        List<GpuId> target = sites.place(jobs.get(i), sizes[i]);
                        taken.addAll(target);
                        targets.put(jobs.get(i).job(), target);
                        sizes[i] = target.size();
                    });
        }

        /** What a job goes on with: its own GPUs before lent ones. */
        private List<GpuId> kept(JobView job, int size) {
            return job.gpus().stream()
                    .filter(usable::contains)
                    .sorted(Comparator.comparingInt(gpu -> own.contains(gpu) ? 0 : 1))
                    .limit(size)
                    .toList();
        }

        private FreeGpusByNode rooms(Set<GpuId> taken, Pool pool) {
            return new FreeGpusByNode(
                    cluster.gpus().stream().filter(gpu -> gpu.pool() == pool).toList(), taken);
        }

        private static void fill(
                Map<JobId, List<GpuId>> targets,
                JobView job,
                int size,
                FreeGpusByNode preferred,
                FreeGpusByNode other) {
            List<GpuId> target = targets.getOrDefault(job.job(), List.of());
            if (target.size() < size) {
                target.addAll(preferred.take(size - target.size(), FreeGpusByNode.Fit.TIGHTEST));
                target.addAll(other.take(size - target.size(), FreeGpusByNode.Fit.TIGHTEST));
            }
        }

        private Map<JobId, PlanReason> reasons(List<JobView> jobs, int[] sizes) {
            Map<JobId, PlanReason> reasons = new TreeMap<>();
            SizeReasons bySize = new SizeReasons(cluster);
            for (int i = 0; i < sizes.length; i++) {
                JobView job = jobs.get(i);
                int size = sizes[i];
                if (size != job.gpus().size()) {
                    reasons.put(job.job(), PlanReason.later(() -> reason(bySize, job, size)));
                }
            }
            return reasons;
        }

        private static PlanReason reason(SizeReasons reasons, JobView job, int size) {
            int extra = Math.max(0, size - base(job));
            return reasons.of(job, size, RULE, Map.of("baseGpus", (double) base(job), "extraGpus", (double) extra));
        }
    }

    /** Chooses lent GPUs by what it costs to free their servers. */
    private static final class Reclaiming {
        private final Map<JobId, JobView> jobs = new TreeMap<>();
        private final Map<JobId, Integer> held = new TreeMap<>();
        private final SortedMap<NodeId, SortedMap<JobId, List<GpuId>>> servers = new TreeMap<>();
        private final List<GpuId> taken = new ArrayList<>();

        Reclaiming(ClusterView cluster) {
            for (JobView job : cluster.jobs()) {
                jobs.put(job.job(), job);
                held.put(job.job(), job.gpus().size());
            }
            for (GpuState gpu : cluster.gpus()) {
                gpu.owner()
                        .asLent()
                        .map(Owner.Lent::job)
                        .filter(jobs::containsKey)
                        .ifPresent(job -> servers.computeIfAbsent(gpu.nodeId(), node -> new TreeMap<>())
                                .computeIfAbsent(job, any -> new ArrayList<>())
                                .add(gpu.gpuId()));
            }
        }

        List<GpuId> victims(int count) {
            cheapestFirst().forEach(server -> shrink(server, count));
            while (taken.size() < count && !servers.isEmpty()) {
                stop(cheapestFirst().get(0));
            }
            return List.copyOf(taken);
        }

        private List<NodeId> cheapestFirst() {
            return servers.keySet().stream()
                    .sorted(Comparator.<NodeId>comparingDouble(this::cost)
                            .thenComparingInt(this::lentGpus)
                            .thenComparing(Comparator.naturalOrder()))
                    .toList();
        }

        /** Takes extra workers on a server, as many as are still needed. */
        private void shrink(NodeId server, int count) {
            on(server).forEach((job, gpus) -> {
                while ((taken.size() < count || isBetweenSizes(job)) && spare(job) > 0 && !gpus.isEmpty()) {
                    taken.add(gpus.remove(gpus.size() - 1));
                    held.merge(job, -1, Integer::sum);
                }
            });
            tidy();
        }

        /** Stops the job on a server that the server's cost has least of; all that was lent to it comes free. */
        private void stop(NodeId server) {
            JobId stopped = on(server).keySet().stream()
                    .min(Comparator.comparingDouble(this::share).thenComparing(Comparator.naturalOrder()))
                    .orElseThrow();
            servers.values().forEach(there -> {
                List<GpuId> gpus = there.remove(stopped);
                if (gpus != null) {
                    taken.addAll(gpus);
                }
            });
            tidy();
        }

        private void tidy() {
            servers.values().forEach(there -> there.values().removeIf(List::isEmpty));
            servers.values().removeIf(Map::isEmpty);
        }

        /** How many jobs a reclaim of this server stops, each counted for its share of lent servers. */
        private double cost(NodeId server) {
            return on(server).entrySet().stream()
                    .filter(entry -> spare(entry.getKey()) < entry.getValue().size())
                    .mapToDouble(entry -> share(entry.getKey()))
                    .sum();
        }

        private double share(JobId job) {
            return 1.0
                    / servers.values().stream()
                            .filter(there -> there.containsKey(job))
                            .count();
        }

        private SortedMap<JobId, List<GpuId>> on(NodeId server) {
            return servers.getOrDefault(server, new TreeMap<>());
        }

        private int lentGpus(NodeId server) {
            return on(server).values().stream().mapToInt(List::size).sum();
        }

        /** Whether the job cannot go on with what it would have now, but with fewer. */
        private boolean isBetweenSizes(JobId job) {
            JobView view = Objects.requireNonNull(jobs.get(job), "a job that the plan does not know");
            return !view.allows(held.getOrDefault(job, 0));
        }

        /** Workers that a job can lose without being stopped. */
        private int spare(JobId job) {
            JobView view = Objects.requireNonNull(jobs.get(job), "a job that the plan does not know");
            return view.elastic() ? Math.max(0, held.getOrDefault(job, 0) - view.minGpus()) : 0;
        }
    }
}
