package io.lendstream.core.event;

/** The phases of a training job. */
public enum JobPhase {
    /** Not known to this version; the job is left as it is. */
    UNKNOWN,
    QUEUED,
    RUNNING,
    RESCALING,
    FINISHED,
    FAILED,
    CANCELLED,
    /** Without GPUs; its state is in the host memory of its node. */
    PAUSED;

    /** Whether the job will not run again. */
    public boolean isOver() {
        return this == FINISHED || this == FAILED || this == CANCELLED;
    }
}
