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
        List<GpuId> chosen = site.wholeNodes() ? best.chosen() : best.gpus(best.size, job.gpus());
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
        /** The whole nodes that {@link #fit} found. */
        private List<List<GpuState>> chosen = List.of();

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
            int bound = job.fit(Math.min(count, most));
            if (job.site().filter(JobSite::wholeNodes).isEmpty()) {
                return bound;
            }
            List<List<GpuState>> order = inOrder();
            chosen = first(order, job, bound);
            if (sum(chosen) < bound) {
                List<List<GpuState>> others = exact(order, job, bound);
                chosen = sum(others) > sum(chosen) ? others : chosen;
            }
            return sum(chosen);
        }

        /** Its nodes: those of the job first, training's own before others, larger ones before smaller ones. */
        private List<List<GpuState>> inOrder() {
            return nodes.entrySet().stream()
                    .sorted(Comparator.<Map.Entry<NodeId, List<GpuState>>>comparingInt(
                                    node -> home.contains(node.getKey()) ? 0 : 1)
                            .thenComparingInt(node -> node.getValue().get(0).pool() == Pool.TRAINING ? 0 : 1)
                            .thenComparingInt(node -> -node.getValue().size())
                            .thenComparing(Map.Entry::getKey))
                    .map(Map.Entry::getValue)
                    .toList();
        }

        /** The first nodes that have a number of GPUs, of at most so many, which the job may have. */
        private static List<List<GpuState>> first(List<List<GpuState>> order, JobView job, int bound) {
            List<List<GpuState>> taken = new ArrayList<>();
            int best = 0;
            int sum = 0;
            for (List<GpuState> node : order) {
                if (sum + node.size() <= bound) {
                    sum += node.size();
                    taken.add(node);
                    best = job.allows(sum) ? taken.size() : best;
                }
            }
            return List.copyOf(taken.subList(0, best));
        }

        /** Any nodes that have the largest such number together: where nodes differ in size, the first may not. */
        private static List<List<GpuState>> exact(List<List<GpuState>> order, JobView job, int bound) {
            // The place, from 1, of the last node of the first choice that has each sum; 0 if there is none.
            int[] last = new int[bound + 1];
            for (int place = 1; place <= order.size(); place++) {
                int gpus = order.get(place - 1).size();
                for (int sum = bound; sum >= gpus; sum--) {
                    if (last[sum] == 0 && (sum == gpus || last[sum - gpus] > 0)) {
                        last[sum] = place;
                    }
                }
            }
            int best = bound;
            while (best > 0 && (last[best] == 0 || !job.allows(best))) {
                best--;
            }
            List<List<GpuState>> exact = new ArrayList<>();
            int left = best;
            while (left > 0) {
                List<GpuState> node = order.get(last[left] - 1);
                exact.add(node);
                left -= node.size();
            }
            return exact;
        }

        private static int sum(List<List<GpuState>> some) {
            int sum = 0;
            for (List<GpuState> node : some) {
                sum += node.size();
            }
            return sum;
        }

        List<GpuId> chosen() {
            List<GpuId> ids = new ArrayList<>();
            for (List<GpuState> node : chosen) {
                node.forEach(gpu -> ids.add(gpu.gpuId()));
            }
            return ids;
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
