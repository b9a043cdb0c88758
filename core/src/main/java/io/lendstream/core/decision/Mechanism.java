package io.lendstream.core.decision;

/** How a job's change of GPUs is carried out. */
public enum Mechanism {
    /** Not known to this version; actuators treat it as a restart. */
    UNKNOWN,
    /** In place: survivors stay, newcomers join (auto-fast elastic training). */
    AFE,
    /** Checkpoint, stop, start again on the new GPUs. */
    RESTART
}
