package io.lendstream.actuator.adoption;

/** How an adopted process has ended. */
public enum AdoptionEnd {
    /** By itself, or by something else than Lendstream; nothing of it is left. */
    UNASKED,
    /** By itself, or by something else; others that it has started run on, and Lendstream gives them up. */
    OTHERS_RUN_ON,
    /** As it was asked to; nothing of it is left. */
    ASKED,
    /** Killed; nothing of it is left. */
    FORCED;

    /** Whether it was to end. */
    public boolean isAsked() {
        return this == ASKED || isForced();
    }

    public boolean isForced() {
        return this == FORCED;
    }
}
