package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobState;
import java.time.Instant;
import java.util.List;

/**
 * What a policy may see and give away, in an order that is the same for equal states.
 *
 * @param now the time to plan for
 * @param jobs jobs that are not over, in order of submission and then name
 * @param gpus GPUs that training may use: its own, lent ones, and idle ones of inference that may be lent; by node and
 *     id
 * @param fixedJobs jobs among {@code jobs} that must keep what they have, because they are being changed now
 * @param gpusPerNode GPUs of the largest node
 */
public record ClusterView(
        Instant now, List<JobState> jobs, List<GpuState> gpus, List<JobState> fixedJobs, int gpusPerNode) {
    public ClusterView {
        jobs = List.copyOf(jobs);
        gpus = List.copyOf(gpus);
        fixedJobs = List.copyOf(fixedJobs);
    }
}
