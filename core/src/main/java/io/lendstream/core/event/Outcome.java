package io.lendstream.core.event;

/** The outcome of a decision, or of a part of it. */
public enum Outcome {
    /** Not known to this version; logged, changes nothing. */
    UNKNOWN,
    /** Taken up; more will follow. */
    ACCEPTED,
    /** The GPUs named are free: nothing of the tenant runs there any more. */
    RELEASED,
    /** As released, but the tenant had to be killed. */
    FORCED,
    /** The tenant runs on the GPUs named. */
    BOUND,
    /** The decision is in force on the nodes of the actuator. */
    APPLIED,
    /** Not taken up: old epoch, seen before, advisory, or not this actuator's. */
    REJECTED,
    /** Taken up and not achieved; the GPUs named are as they were before the decision. */
    FAILED,
    /** Taken up and not achieved in time. */
    TIMED_OUT,
    /**
     * No change: the tenant runs on the named GPUs, or no tenant runs if none is named. Reported from time to time, so
     * that a difference from the scheduler's state is found. A tenant without GPUs has left all of its units; only
     * drivers that do not choose units report that.
     */
    HOLDS,
    /** No change: the jobs and services of others that the actuator finds on its nodes, and could manage. */
    FOUND
}
