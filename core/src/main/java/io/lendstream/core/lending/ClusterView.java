package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobId;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * What a policy may see and give away, in an order that is the same for equal states.
 *
 * @param now the time to plan for
 * @param jobs jobs that are not over, in order of submission and then name
 * @param gpus GPUs that training may use: its own, lent ones, and idle ones of inference that may be lent; by node and
 *     id
 * @param fixed jobs among {@code jobs} that must keep what they have, because they are being changed now
 * @param nodes how many nodes there are, those of inference included
 * @param gpusPerNode GPUs of the largest node
 * @param waiting replicas that wait for a GPU; a policy may leave GPUs for them
 */
public record ClusterView(
        Instant now,
        List<JobView> jobs,
        List<GpuState> gpus,
        Set<JobId> fixed,
        int nodes,
        int gpusPerNode,
        int waiting) {
    public ClusterView {
        jobs = List.copyOf(jobs);
        gpus = List.copyOf(gpus);
        fixed = Set.copyOf(fixed);
    }

    /** Jobs that may be changed, in their order. */
    List<JobView> open() {
        return fixed.isEmpty()
                ? jobs
                : jobs.stream().filter(job -> !fixed.contains(job.job())).toList();
    }

    /** GPUs that are left for the jobs that may be changed. */
    int capacity() {
        int held = fixed.isEmpty()
                ? 0
                : jobs.stream()
                        .filter(job -> fixed.contains(job.job()))
                        .mapToInt(job -> job.gpus().size())
                        .sum();
        return Math.max(0, gpus.size() - held);
    }
}
