package io.lendstream.simulator;

import io.lendstream.core.id.ServiceId;

/**
 * The results of a service.
 *
 * @param requests how many were answered
 * @param coldStarts requests that waited for a replica to come up; for a service of which only rates are known,
 *     replicas that came up
 * @param withinSlo answered requests that took no longer than the SLO
 * @param unanswered requests still waiting or being computed
 * @param startDelaySeconds waits for a GPU
 * @param overheadSeconds waits for a GPU and for a replica to come up
 * @param own those of the workload up to its own end
 */
public record ServiceResult(
        ServiceId service,
        double requests,
        long coldStarts,
        double withinSlo,
        double unanswered,
        Distribution startDelaySeconds,
        Distribution overheadSeconds,
        OwnRequests own) {
    /** A service whose requests do not go on after the workload's own end. */
    public ServiceResult(
            ServiceId service,
            double requests,
            long coldStarts,
            double withinSlo,
            double unanswered,
            Distribution startDelaySeconds,
            Distribution overheadSeconds) {
        this(
                service,
                requests,
                coldStarts,
                withinSlo,
                unanswered,
                startDelaySeconds,
                overheadSeconds,
                new OwnRequests(requests + unanswered, withinSlo));
    }
}
