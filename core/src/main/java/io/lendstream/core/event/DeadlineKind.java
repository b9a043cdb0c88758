package io.lendstream.core.event;

/** The meaning of a job's deadline. */
public enum DeadlineKind {
    /** Of a later version; counts as soft. */
    UNKNOWN,
    /** A wish: no decision of the scheduler depends on it. */
    SOFT,
    /** The job must end by then. The scheduler answers whether it can, and does not plan it if it cannot. */
    HARD
}
