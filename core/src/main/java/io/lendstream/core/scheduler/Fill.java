package io.lendstream.core.scheduler;

/** Which needs of services with shapes a part of a step fills. */
enum Fill {
    /** Floors only. */
    FLOORS,
    /** Those for the requests there are, whatever is expected. */
    PRESENT,
    /** Those for expected requests too. */
    ALL
}
