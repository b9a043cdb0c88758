package io.lendstream.schemas.registry;

/** Which earlier and later versions of a subject's schema a new one has to get along with. */
public enum CompatibilityLevel {
    NONE,
    BACKWARD,
    BACKWARD_TRANSITIVE,
    FORWARD,
    FORWARD_TRANSITIVE,
    FULL,
    /** Every version can read what every other version wrote: what records that are kept for months need. */
    FULL_TRANSITIVE
}
