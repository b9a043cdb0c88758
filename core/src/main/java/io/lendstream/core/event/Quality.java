package io.lendstream.core.event;

/** The quality of a measurement. */
public enum Quality {
    /** Not known to this version; treated as unsupported. */
    UNKNOWN,
    MEASURED,
    /** The device does not support it, as with utilisation under MIG without GPM. Never read as zero. */
    UNSUPPORTED,
    /** The last known value, older than a sampling period. */
    STALE
}
