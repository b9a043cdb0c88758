package io.lendstream.core.policy.placement;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Turns sizes into GPUs like the published schedulers. A job whose size stays keeps its GPUs; the others are placed
 * from scratch: jobs with rules about their nodes first, then the smallest first.
 */
public final class FreshPlacement {
    private FreshPlacement() {}

    /**
     * A plan.
     *
     * @param jobs the jobs that may be changed
     * @param sizes GPUs for each of them
     * @param left how many GPUs to leave for waiting replicas, on the emptiest nodes
     * @param why the reason for each change
     */
    public static Plan place(
            ClusterView cluster,
            List<JobView> jobs,
            int[] sizes,
            FreeGpusByNode.Fit fit,
            int left,
            InPlacePlacement.Why why) {
        Set<GpuId> usable = usable(cluster);
        Map<JobId, List<GpuId>> targets = new TreeMap<>();
        Set<GpuId> kept = fixed(cluster);
        List<Integer> moved = new ArrayList<>();
        for (int i = 0; i < sizes.length; i++) {
            JobView job = jobs.get(i);
            if (sizes[i] == job.gpus().size() && usable.containsAll(job.gpus())) {
                kept.addAll(job.gpus());
                targets.put(job.job(), job.gpus());
            } else {
                moved.add(i);
            }
        }
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        SitePlacement.place(cluster, jobs, sizes, moved, targets.values()).forEach((i, target) -> {
            JobView job = jobs.get(i);
            kept.addAll(target);
            targets.put(job.job(), target);
            reasons.put(job.job(), PlanReason.later(() -> why.gets(job, target.size())));
        });
        FreeGpusByNode rooms = new FreeGpusByNode(cluster.gpus(), kept);
        List<GpuId> spare = rooms.takeSingly(left);
        moved.sort(Comparator.comparingInt(i -> sizes[i]));
        for (int i : moved) {
            JobView job = jobs.get(i);
            int size = sizes[i];
            targets.put(job.job(), rooms.take(size, fit));
            reasons.put(job.job(), PlanReason.later(() -> why.gets(job, size)));
        }
        return new Plan(targets, reasons, Map.of(), spare, Optional.empty());
    }

    private static Set<GpuId> usable(ClusterView cluster) {
        Set<GpuId> usable = new HashSet<>();
        for (GpuState gpu : cluster.gpus()) {
            usable.add(gpu.gpuId());
        }
        return usable;
    }

    /** GPUs of jobs that may not be changed. */
    static Set<GpuId> fixed(ClusterView cluster) {
        Set<GpuId> fixed = new HashSet<>();
        for (JobView job : cluster.jobs()) {
            if (cluster.fixed().contains(job.job())) {
                fixed.addAll(job.gpus());
            }
        }
        return fixed;
    }
}
