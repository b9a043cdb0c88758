package io.lendstream.core.event;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.Checks;

/** Replicas of a role that a service with shapes always keeps, instead of its floor. */
public record RoleFloor(ReplicaRole role, int replicas) {
    public RoleFloor {
        Checks.atLeast("replicas", 0, replicas);
    }
}
