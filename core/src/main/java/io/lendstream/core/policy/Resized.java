package io.lendstream.core.policy;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import java.util.List;

/**
 * The change of a job's GPUs by a plan.
 *
 * @param held GPUs that the job holds
 * @param lost those of them that training may not use now, so that no plan can keep them
 * @param size GPUs that the plan gives it
 */
public record Resized(JobView job, int held, int lost, int size) {
    /** The change of a job to a size, in a view of the cluster. */
    public static Resized of(ClusterView cluster, JobView job, int size) {
        List<GpuId> held = job.gpus();
        int lost = 0;
        for (GpuId gpu : held) {
            if (cluster.node(gpu).isEmpty()) {
                lost++;
            }
        }
        return new Resized(job, held.size(), lost, size);
    }

    /** For example {@code grows from 3 to 4 GPUs}; it follows the job's name. */
    public String inWords() {
        if (held == 0 && job.onInstance()) {
            return Wording.leavesInstance(size);
        }
        return lost > 0 ? Wording.loses(lost, held, size) : Wording.resized(held, size, job.largestRun() > 0);
    }
}
