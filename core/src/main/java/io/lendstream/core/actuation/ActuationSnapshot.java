package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The state that an actuator keeps over a restart. Nodes, jobs and services are not part of it; they are declared
 * again.
 *
 * @param clock the time up to which everything due is done
 * @param nextOrder number of the next step
 * @param latest the last decision of each domain that arrived
 * @param holdings the tenants of GPUs
 * @param steps the steps of changes that are not finished
 * @param places the last order about each tenant of a driver
 * @param cuts GPUs that drivers are cutting
 * @param expected what a driver in the actuation's own time will report; empty for other drivers
 * @param refusals how many decisions were refused, by cause
 */
public record ActuationSnapshot(
        Instant clock,
        long nextOrder,
        List<DecisionId> latest,
        List<Holding> holdings,
        List<PendingStep> steps,
        List<Order.Place> places,
        List<Order.Cut> cuts,
        Optional<List<ExpectedEvent>> expected,
        List<Count> refusals) {
    public ActuationSnapshot {
        latest = latest.stream().sorted().toList();
        holdings = List.copyOf(holdings);
        steps = steps.stream().sorted().toList();
        places = List.copyOf(places);
        cuts = List.copyOf(cuts);
        expected = expected.map(List::copyOf);
        refusals = List.copyOf(refusals);
    }

    /** The number of decisions that were refused for one cause. */
    public record Count(Refusal refusal, long times) {}

    /** The state of an actuator that has done nothing yet. */
    public static ActuationSnapshot empty() {
        return new ActuationSnapshot(
                Instant.EPOCH, 0, List.of(), List.of(), List.of(), List.of(), List.of(), Optional.empty(), List.of());
    }
}
