package io.lendstream.schemas.registry;

/** Which earlier and later versions of a subject's schema a new version must be compatible with. */
public enum CompatibilityLevel {
    NONE,
    BACKWARD,
    BACKWARD_TRANSITIVE,
    FORWARD,
    FORWARD_TRANSITIVE,
    FULL,
    /** Every version can read records of every other version, which records kept for months need. */
    FULL_TRANSITIVE
}
