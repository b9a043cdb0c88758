package io.lendstream.core.decision;

import java.util.Locale;

/**
 * The cause of a decision, for tools that count. Later versions may add causes; a reader of decisions must accept
 * unknown ones.
 */
public enum ReasonCode {
    /** The current load of a service. */
    DEMAND,
    /** The expected load of a service: the forecast, or the peak of the last minutes that replaces a missing one. */
    FORECAST,
    /** The plan of training that the policy made. */
    PLAN,
    /** A job has ended and releases its GPUs; see {@link Decision#isRelease}. */
    OVER,
    /** No plan is made, because nothing may be changed. */
    HELD,
    /** Nothing is lent, because request rates are stale. */
    STALE,
    /** A job has lost GPUs without a decision. */
    LOST,
    /** The end of a lease. */
    LEASE,
    /** All loans have to come back. */
    SAFETY,
    /** The actuator did not report in time that a decision is carried out. */
    TIMEOUT,
    /** An operator has approved advice. */
    APPROVED,
    /** A MIG instance is lent to a small job. */
    SLICE,
    /** GPUs are cut into MIG instances for services, or services get such instances. */
    SLICES,
    /** A queue has no quota left. */
    QUOTA,
    /** A job can, or cannot, run or end by its hard deadline. */
    ADMISSION,
    /** Drivers lack an ability that a change needs. */
    ABILITY,
    /** The CPU or the host memory of nodes. */
    HOST,
    /** The batch times that servers report. */
    BATCHES,
    /** A service misses its SLO. */
    LATE,
    /** Requests of a service wait that has no replica for them, while another service has some to spare. */
    WAITING,
    /** Something that runs already is taken over, or cannot be. */
    ADOPTED,
    /** A program is not started for a while, because a node could not run it. */
    PROGRAM,
    /** The level of trust. */
    TRUST;

    /** As records spell it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
