package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.Optional;

/**
 * The cause why a GPU or a MIG instance is not lent, or that it is lent.
 *
 * @param reason a clause for operators that follows <em>is not lent:</em>
 * @param until the time at which that ends without a change, if any
 */
public record UnitReview(GpuId unit, Cause cause, String reason, Optional<Instant> until) {
    /** The causes that keep a unit from being lent. */
    public enum Cause {
        /** Nothing: it is lent. */
        LENT,
        /** A service or a job runs on it. */
        IN_USE,
        /** A service needs it, and is given it now. */
        NEEDED,
        /** Its replica was needed a short time ago and is still protected. */
        KEPT_WARM,
        /** It is on its way to a tenant, or back from one. */
        IN_TRANSFER,
        /** Its GPU is being cut into other MIG instances, or has none. */
        CUT,
        /** Others use it. */
        FOREIGN,
        /** It is quarantined. */
        OUT_OF_SERVICE,
        /** Its node cannot be reached. */
        NODE_AWAY,
        /** The scheduler lends nothing. */
        LENDING_OFF,
        /** No plan is made: the domain is frozen, in a quiet window, or most of its nodes are silent. */
        NO_PLAN,
        /** Plans lend nothing more: demand is not known, or all loans were ordered back. */
        NO_NEW_LOANS,
        /** The level of trust of the domain does not allow it. */
        TRUST,
        /** It is kept as reserve, as only a share may be lent. */
        RESERVE,
        /** The actuator of its node cannot lend it now, or two actuators claim its node. */
        ABILITY,
        /** No training job is there. */
        NO_JOB,
        /** The plan gives it to a job that is not lent more now. */
        LIMIT,
        /** No job can use it, or the policy gives it to none. */
        NOT_PLANNED,
        /** The plan gives it to a job that waits for other GPUs first. */
        PLANNED,
        /** The next plan lends it. */
        NEXT_PLAN,
        /** It would be lent, but decisions are only advice. */
        ADVICE
    }
}
