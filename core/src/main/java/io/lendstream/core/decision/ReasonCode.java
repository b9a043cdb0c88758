package io.lendstream.core.decision;

import java.util.Locale;

/** The cause of a decision, for tools that count. Later versions may add causes; a reader of decisions must accept unknown ones. */
public enum ReasonCode {
    /** The requests that a service has. */
    DEMAND,
    /** The requests that a service is expected to have. */
    FORECAST,
    /** The policy's plan of training. */
    PLAN,
    /** A job that is over. */
    OVER,
    /** No plan is made, as nothing may be changed. */
    HELD,
    /** Nothing is lent, as demand is not known. */
    STALE,
    /** GPUs that a job has lost. */
    LOST,
    /** The end of a lease. */
    LEASE,
    /** All loans have to come back. */
    SAFETY,
    /** What was decided was not reported done in time. */
    TIMEOUT,
    /** A person has approved it. */
    APPROVED,
    /** A MIG instance is lent to a small job. */
    SLICE,
    /** GPUs are cut for services, or instances given to them. */
    SLICES,
    /** What servers report of their batches. */
    BATCHES,
    /** A service misses its SLO. */
    LATE;

    /** As records spell it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
