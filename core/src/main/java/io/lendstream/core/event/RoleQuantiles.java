package io.lendstream.core.event;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.Checks;

/**
 * The replicas of a role that a service needs to keep its SLO, by quantiles of its demand; never fewer than the floor
 * of the role. A replica counts with the capacity of the shape that the service prefers for the role.
 */
public record RoleQuantiles(ReplicaRole role, int p10, int p50, int p90, int p99) {
    public RoleQuantiles {
        Checks.atLeast("p10 in replicas", 0, p10);
        if (p10 > p50 || p50 > p90 || p90 > p99) {
            throw new IllegalArgumentException(
                    "quantiles in replicas must not cross, but were p10=%d p50=%d p90=%d p99=%d"
                            .formatted(p10, p50, p90, p99));
        }
    }
}
