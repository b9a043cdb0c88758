package io.lendstream.service.time;

/** Which time a service goes by. */
public enum TimeMode {
    /** The machine's clock. */
    WALL,
    /** That of an accelerated run. */
    VIRTUAL
}
