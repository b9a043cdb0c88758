package io.lendstream.simulator;

import java.time.Instant;
import java.util.List;

/**
 * The results of a workload.
 *
 * @param now up to when
 * @param requests single answered requests, by completion; services of which only rates are known have none
 * @param computingGpuSeconds GPU time in which jobs trained or replicas computed, until {@code measuredUntilSeconds}
 * @param measuredUntilSeconds from the start to the last training arrival, or to the end where no job arrives
 */
public record WorldResults(
        Instant start,
        Instant now,
        List<JobResult> jobs,
        List<RequestResult> requests,
        List<ServiceResult> services,
        int gpus,
        double computingGpuSeconds,
        double measuredUntilSeconds,
        double lentGpuSeconds,
        double rescalingGpuSeconds) {
    public WorldResults {
        jobs = List.copyOf(jobs);
        requests = List.copyOf(requests);
        services = List.copyOf(services);
    }

    /** Share of all GPU time until the last training arrival in which GPUs computed. */
    public double gpuUtilization() {
        double all = gpus * measuredUntilSeconds;
        return all > 0 ? computingGpuSeconds / all : 0;
    }
}
