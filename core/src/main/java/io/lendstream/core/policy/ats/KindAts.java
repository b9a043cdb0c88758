package io.lendstream.core.policy.ats;

import io.lendstream.core.event.Limits;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.placement.PooledKnapsack;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Adaptive task scaling over several kinds of GPU: chooses kind and size of all jobs together, so that the sum of
 * speedups is large. A job's speedup is its goodput on a kind over its mean goodput on all kinds that it may use, with
 * a fair share. A change of the kind costs a restart.
 */
final class KindAts implements KindChooser {
    /** A job that waits prefers a faster kind even if it is so young that its speedup does not count yet. */
    private static final double LEAST_LEFT = 0.01;

    @Override
    public Map<JobId, KindId> choose(SortedMap<KindId, ClusterView> kinds) {
        List<KindId> names = List.copyOf(kinds.keySet());
        List<Map<JobId, JobView>> open = new ArrayList<>();
        Map<JobId, JobView> jobs = new HashMap<>();
        Map<JobId, Integer> homes = new HashMap<>();
        for (ClusterView pool : kinds.values()) {
            Map<JobId, JobView> here = new HashMap<>();
            for (JobView job : pool.open()) {
                here.put(job.job(), job);
                jobs.putIfAbsent(job.job(), job);
                if (!job.gpus().isEmpty()) {
                    homes.putIfAbsent(job.job(), open.size());
                }
            }
            open.add(here);
        }
        List<JobView> order = jobs.values().stream()
                .sorted(Comparator.comparingDouble(JobView::attainedGpuSeconds)
                        .thenComparing(JobView::submittedAt)
                        .thenComparing(JobView::job))
                .toList();
        List<PooledKnapsack.PoolChoice> choices = PooledKnapsack.choose(
                values(List.copyOf(kinds.values()), open, order, homes.keySet()),
                kinds.values().stream().mapToInt(ClusterView::capacity).toArray(),
                order.stream()
                        .mapToInt(job -> homes.getOrDefault(job.job(), -1))
                        .toArray());
        Map<JobId, KindId> chosen = new HashMap<>();
        for (int j = 0; j < choices.size(); j++) {
            JobId job = order.get(j).job();
            PooledKnapsack.PoolChoice choice = choices.get(j);
            boolean goes = choice.size() > 0 || !homes.containsKey(job);
            if (goes && choice.pool() >= 0) {
                chosen.put(job, names.get(choice.pool()));
            }
        }
        return chosen;
    }

    /** What each job is worth with each number of GPUs of each kind. */
    private static List<List<double[]>> values(
            List<ClusterView> pools, List<Map<JobId, JobView>> open, List<JobView> order, Set<JobId> running) {
        int gpus = 0;
        int nodes = 0;
        Set<JobId> all = new HashSet<>();
        for (ClusterView pool : pools) {
            gpus += pool.gpuCount();
            nodes += pool.nodes();
            pool.jobs().forEach(job -> all.add(job.job()));
        }
        List<List<double[]>> values = new ArrayList<>();
        for (int k = 0; k < pools.size(); k++) {
            Ats ats = new Ats(pools.get(k), gpus, all.size(), nodes);
            int capacity = pools.get(k).capacity();
            List<double[]> here = new ArrayList<>();
            for (JobView any : order) {
                JobView job = open.get(k).get(any.job());
                if (job == null) {
                    here.add(new double[1]);
                    continue;
                }
                boolean runs = running.contains(job.job());
                boolean isElsewhere = runs && job.gpus().isEmpty();
                double kept = isElsewhere ? restarted(job, pools.get(k).now()) : 1;
                double left = kept * ats.changed(job);
                here.add(ats.values(job, capacity, runs ? left : Math.max(LEAST_LEFT, left)));
            }
            values.add(here);
        }
        return values;
    }

    /** The share of a job's speedup that is left after a restart on another kind: little for a young job. */
    private static double restarted(JobView job, Instant now) {
        double age = Limits.millis(job.age(now));
        return age / Math.max(1, age + Limits.millis(job.costs().first()));
    }
}
