package io.lendstream.service.time;

/** The clock that a service uses. */
public enum TimeMode {
    /** The machine's clock. */
    WALL,
    /** The virtual clock of an accelerated run. */
    VIRTUAL
}
