package io.lendstream.core.demand;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RoleQuantiles;
import io.lendstream.core.id.Checks;

/**
 * The replicas of a role of a service, in the shape that it prefers.
 *
 * @param perSecond requests per second that one replica answers within the SLO; above 0
 * @param floor replicas that are kept whatever the demand
 * @param units GPUs of a replica
 */
public record RoleCapacity(ReplicaRole role, double perSecond, int floor, int units) {
    public RoleCapacity {
        ReplicaCapacity.check(perSecond, floor);
        Checks.atLeast("units", 1, units);
    }

    /** Replicas that the role needs at a demand of so many requests per second, its floor at least. */
    int replicasFor(double requestsPerSecond) {
        return Math.max(floor, new ReplicaCapacity(perSecond, floor).replicasFor(requestsPerSecond));
    }

    RoleQuantiles at(HorizonQuantiles demand) {
        return new RoleQuantiles(
                role,
                replicasFor(demand.p10()),
                replicasFor(demand.p50()),
                replicasFor(demand.p90()),
                replicasFor(demand.p99()));
    }
}
