package io.lendstream.core.event;

import java.time.Duration;

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

    /** How long a scheduler knows a job that is over, so that a late record does not bring it back. */
    public static final Duration KNOWN_WHEN_OVER = Duration.ofHours(24);

    /** Whether the job will not run again. */
    public boolean isOver() {
        return this == FINISHED || this == FAILED || this == CANCELLED;
    }
}
