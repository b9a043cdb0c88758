package io.lendstream.simulator;

import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The results of a workload.
 *
 * @param now up to when
 * @param requests single answered requests, by completion; services of which only rates are known have none
 * @param gpus how many there are; MIG instances count as their shares of GPUs, here and in all GPU time
 * @param computingGpuSeconds GPU time in which jobs trained or replicas computed, until {@code measuredUntilSeconds}
 * @param measuredUntilSeconds from the start to the last training arrival, or to the end where no job arrives
 * @param rescalingGpuSeconds GPU time in which jobs start, or change their GPUs
 * @param startingGpuSeconds the part of that in which jobs start for the first time; empty if it was not measured
 * @param places the units there were, by node; empty where they have no names
 */
public record WorldResults(
        Instant start,
        Instant now,
        List<JobResult> jobs,
        List<RequestResult> requests,
        List<ServiceResult> services,
        double gpus,
        double computingGpuSeconds,
        double measuredUntilSeconds,
        double lentGpuSeconds,
        double rescalingGpuSeconds,
        OptionalDouble startingGpuSeconds,
        List<PlacedGpu> places) {
    public WorldResults {
        jobs = List.copyOf(jobs);
        requests = List.copyOf(requests);
        services = List.copyOf(services);
        places = List.copyOf(places);
    }

    /** The results of a workload on GPUs without names. */
    public WorldResults(
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
        this(
                start,
                now,
                jobs,
                requests,
                services,
                gpus,
                computingGpuSeconds,
                measuredUntilSeconds,
                lentGpuSeconds,
                rescalingGpuSeconds,
                OptionalDouble.empty(),
                List.of());
    }

    /** Share of all GPU time until the last training arrival in which GPUs computed. */
    public double gpuUtilization() {
        double all = gpus * measuredUntilSeconds;
        return all > 0 ? computingGpuSeconds / all : 0;
    }
}
