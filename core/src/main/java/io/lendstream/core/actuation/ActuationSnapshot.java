package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import java.time.Instant;
import java.util.List;

/**
 * All that an actuator has to remember over a restart. Nodes, jobs and services are not part of it: it is told them anew.
 *
 * @param clock up to when it has done what was due
 * @param nextOrder number of the next step to be planned
 * @param latest the last decision of each domain that it has seen
 * @param holdings who has which GPU
 * @param steps what is under way
 * @param places how tenants of drivers are to run
 * @param cuts GPUs that drivers are cutting
 * @param refusals how often it refused, by cause
 */
public record ActuationSnapshot(
        Instant clock,
        long nextOrder,
        List<DecisionId> latest,
        List<Holding> holdings,
        List<PendingStep> steps,
        List<Order.Place> places,
        List<Order.Cut> cuts,
        List<Count> refusals) {
    public ActuationSnapshot {
        latest = latest.stream().sorted().toList();
        holdings = List.copyOf(holdings);
        steps = steps.stream().sorted().toList();
        places = List.copyOf(places);
        cuts = List.copyOf(cuts);
        refusals = List.copyOf(refusals);
    }

    /** How often it refused for one cause. */
    public record Count(Refusal refusal, long times) {}

    /** Nothing seen and nothing held. */
    public static ActuationSnapshot empty() {
        return new ActuationSnapshot(
                Instant.EPOCH, 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
    }
}
