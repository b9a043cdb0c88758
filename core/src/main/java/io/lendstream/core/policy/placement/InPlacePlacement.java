package io.lendstream.core.policy.placement;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Turns sizes into GPUs and keeps jobs on their GPUs unless that spreads them over more nodes. A job whose size stays
 * keeps its GPUs; the others are placed: jobs with rules about their nodes first, then the smallest first.
 */
public final class InPlacePlacement {
    private InPlacePlacement() {}

    /** Gives the reason for a job's new size. */
    @FunctionalInterface
    public interface Why {
        PlanReason gets(JobView job, int size);
    }

    /**
     * A plan.
     *
     * @param open the jobs that may be changed
     * @param sizes GPUs for each of them
     */
    public static Plan place(ClusterView cluster, List<JobView> open, int[] sizes, Why why) {
        Placement placement = new Placement(cluster.gpus());
        cluster.jobs().stream()
                .filter(job -> cluster.fixed().contains(job.job()))
                .forEach(job -> placement.keep(job.gpus()));
        Map<JobId, List<GpuId>> targets = new TreeMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        List<Integer> changed = new ArrayList<>();
        for (int i = 0; i < sizes.length; i++) {
            JobView job = open.get(i);
            if (sizes[i] == job.gpus().size() && placement.knows(job.gpus())) {
                placement.keep(job.gpus());
                targets.put(job.job(), job.gpus());
            } else {
                changed.add(i);
            }
        }
        SitePlacement.place(cluster, open, sizes, changed, targets.values()).forEach((i, target) -> {
            JobView job = open.get(i);
            placement.keep(target);
            targets.put(job.job(), target);
            reasons.put(job.job(), PlanReason.later(() -> why.gets(job, target.size())));
        });
        changed.sort(Comparator.<Integer>comparingInt(i -> sizes[i]).thenComparing(Comparator.naturalOrder()));
        for (int i : changed) {
            JobView job = open.get(i);
            List<GpuId> held = job.gpus().stream().filter(placement::knows).toList();
            List<GpuId> target = sizes[i] == 0 ? List.of() : placement.place(sizes[i], held);
            targets.put(job.job(), target);
            reasons.put(job.job(), PlanReason.later(() -> why.gets(job, target.size())));
        }
        return new Plan(targets, reasons);
    }
}
