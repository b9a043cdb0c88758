package io.lendstream.core.decision;

/** The ways to carry out a change of a job's GPUs. */
public enum Mechanism {
    /** Not known to this version; actuators treat it as a restart. */
    UNKNOWN,
    /** In place: survivors stay, newcomers join (auto-fast elastic training). */
    AFE,
    /** Checkpoint, stop, start again on the new GPUs. */
    RESTART,
    /**
     * Without GPUs: the job leaves them, and its state stays in the host memory of its node. With GPUs: it goes on from
     * there, on GPUs of that node.
     */
    PAUSE
}
