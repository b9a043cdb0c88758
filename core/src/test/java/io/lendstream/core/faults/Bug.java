package io.lendstream.core.faults;

/** A mistake that a scheduler or an actuator makes in a run, to prove that a check finds it. */
enum Bug {
    NONE,
    /** The scheduler takes a GPU for free as soon as it has asked for it, and the actuator lets the next tenant in. */
    BIND_BEFORE_RELEASE,
    /** The actuator takes up decisions of an old epoch. */
    LOST_FENCE,
    /** The actuator takes up a decision again that it has taken up before. */
    DOUBLE_APPLY,
    /** The scheduler misses a report that is in its topic. */
    LOST_REPORT,
    /** A scheduler that takes over goes on in the epoch of the one before it. */
    REUSED_EPOCH
}
