package io.lendstream.core.policy.placement;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Places jobs that have rules about their nodes, before all other jobs of a plan: in one topology domain, or on whole
 * nodes. Of several domains that hold the job it takes the one with most of the job's GPUs, then one that has enough of
 * training's own GPUs, then the one with the fewest free GPUs. A job that only prefers a domain is spread if none holds
 * it; one that requires a domain gets fewer GPUs, as its shape allows.
 */
public final class SitePlacement {
    private final List<GpuState> gpus;
    private final Set<GpuId> taken;

    /**
     * @param gpus all GPUs of the view
     * @param taken those of them that jobs keep
     */
    public SitePlacement(List<GpuState> gpus, Collection<GpuId> taken) {
        this.gpus = gpus;
        this.taken = new HashSet<>(taken);
    }

    /** Whether a job of these has rules about its nodes. */
    public static boolean isNeeded(List<JobView> jobs) {
        for (JobView job : jobs) {
            if (job.site().isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Places the jobs with rules among those that move, running ones first, then the largest first, and takes them out
     * of these.
     *
     * @param sizes GPUs for each of the jobs
     * @param moved places of jobs in the list
     * @param kept GPUs that other jobs keep
     * @return the GPUs by place in the list
     */
    static Map<Integer, List<GpuId>> place(
            ClusterView cluster, List<JobView> jobs, int[] sizes, List<Integer> moved, Collection<List<GpuId>> kept) {
        if (!isNeeded(jobs)) {
            return Map.of();
        }
        Set<GpuId> taken = FreshPlacement.fixed(cluster);
        kept.forEach(taken::addAll);
        SitePlacement sites = new SitePlacement(cluster.gpus(), taken);
        Map<Integer, List<GpuId>> targets = new TreeMap<>();
        moved.stream()
                .filter(i -> jobs.get(i).site().isPresent())
                .sorted(byTurn(jobs, sizes))
                .forEach(i -> targets.put(i, sites.place(jobs.get(i), sizes[i])));
        moved.removeAll(targets.keySet());
        return targets;
    }

    /** The order in which jobs are placed: those that have GPUs first, then the largest first. */
    public static Comparator<Integer> byTurn(List<JobView> jobs, int[] sizes) {
        return Comparator.<Integer>comparingInt(i -> jobs.get(i).gpus().isEmpty() ? 1 : 0)
                .thenComparingInt(i -> -sizes[i])
                .thenComparing(Comparator.naturalOrder());
    }

    /**
     * GPUs for a job with rules; fewer than asked for, or none, where they leave no more.
     *
     * @param count GPUs that the policy gives it
     */
    public List<GpuId> place(JobView job, int count) {
        return count == 0 ? List.of() : place(job, job.site().orElseThrow(), count);
    }

    private List<GpuId> place(JobView job, JobSite site, int count) {
        Set<GpuId> held = new HashSet<>(job.gpus());
        SortedMap<String, DomainGpus> rooms = rooms(site, held, false);
        DomainGpus best = best(rooms.values(), job, count);
        if (!site.needsDomain() && best.size < count && rooms.size() > 1) {
            best = best(rooms(site, held, true).values(), job, count);
        }
        List<GpuId> chosen = site.wholeNodes() ? best.nodes(best.size) : best.gpus(best.size, job.gpus());
        taken.addAll(chosen);
        return chosen;
    }

    /** The free GPUs by domain. */
    private SortedMap<String, DomainGpus> rooms(JobSite site, Set<GpuId> held, boolean anywhere) {
        SortedMap<String, DomainGpus> rooms = new TreeMap<>();
        for (GpuState gpu : gpus) {
            if (!taken.contains(gpu.gpuId())) {
                rooms.computeIfAbsent(anywhere ? "" : site.domain(gpu.nodeId()), any -> new DomainGpus())
                        .add(gpu, held.contains(gpu.gpuId()));
            }
        }
        if (site.wholeNodes()) {
            rooms.values().forEach(room -> room.keepWhole(site));
        }
        return rooms;
    }

    private static DomainGpus best(Collection<DomainGpus> rooms, JobView job, int count) {
        for (DomainGpus room : rooms) {
            room.size = room.fit(job, count);
        }
        return rooms.stream()
                .max(Comparator.<DomainGpus>comparingInt(room -> room.size)
                        .thenComparingInt(room -> room.held)
                        .thenComparing(room -> room.own >= room.size)
                        .thenComparingInt(room -> -room.count))
                .orElseGet(DomainGpus::new);
    }

    /** The free GPUs of a domain. */
    private static final class DomainGpus {
        private final SortedMap<NodeId, List<GpuState>> nodes = new TreeMap<>();
        private final Set<NodeId> home = new HashSet<>();
        private int count;
        private int held;
        private int own;
        private int size;

        void add(GpuState gpu, boolean isHeld) {
            nodes.computeIfAbsent(gpu.nodeId(), any -> new ArrayList<>()).add(gpu);
            count++;
            own += gpu.pool() == Pool.TRAINING ? 1 : 0;
            if (isHeld) {
                held++;
                home.add(gpu.nodeId());
            }
        }

        /** Leaves out nodes of which some GPUs are taken. */
        void keepWhole(JobSite site) {
            nodes.entrySet()
                    .removeIf(node -> node.getValue().size() != site.layout().gpusOf(node.getKey()));
            count = nodes.values().stream().mapToInt(List::size).sum();
            own = nodes.values().stream()
                    .filter(there -> there.get(0).pool() == Pool.TRAINING)
                    .mapToInt(List::size)
                    .sum();
            home.retainAll(nodes.keySet());
        }

        /** The most GPUs of at most so many that it can give a job. */
        int fit(JobView job, int most) {
            boolean wholeNodes = job.site().filter(JobSite::wholeNodes).isPresent();
            if (!wholeNodes) {
                return job.fit(Math.min(count, most));
            }
            int best = 0;
            int sum = 0;
            for (Map.Entry<NodeId, List<GpuState>> node : inOrder()) {
                int next = sum + node.getValue().size();
                if (next <= most) {
                    sum = next;
                    best = job.allows(sum) ? sum : best;
                }
            }
            return best;
        }

        /** Its nodes: those of the job first, training's own before others, larger ones before smaller ones. */
        private List<Map.Entry<NodeId, List<GpuState>>> inOrder() {
            return nodes.entrySet().stream()
                    .sorted(Comparator.<Map.Entry<NodeId, List<GpuState>>>comparingInt(
                                    node -> home.contains(node.getKey()) ? 0 : 1)
                            .thenComparingInt(node -> node.getValue().get(0).pool() == Pool.TRAINING ? 0 : 1)
                            .thenComparingInt(node -> -node.getValue().size())
                            .thenComparing(Map.Entry::getKey))
                    .toList();
        }

        /** Whole nodes with so many GPUs, which {@link #fit} found. */
        List<GpuId> nodes(int sum) {
            List<GpuId> chosen = new ArrayList<>();
            for (Map.Entry<NodeId, List<GpuState>> node : inOrder()) {
                if (chosen.size() + node.getValue().size() <= sum) {
                    node.getValue().forEach(gpu -> chosen.add(gpu.gpuId()));
                }
            }
            return chosen;
        }

        List<GpuId> gpus(int number, List<GpuId> mine) {
            if (number == 0) {
                return List.of();
            }
            List<GpuState> all = new ArrayList<>();
            nodes.values().forEach(all::addAll);
            return new Placement(all).place(number, mine);
        }
    }
}
