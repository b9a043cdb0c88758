package io.lendstream.core.actuation;

/** Why an actuator refused a decision, or a part of it. */
public enum Refusal {
    /** Its epoch is over: another scheduler has decided since then. */
    OLD_EPOCH,
    /** It, or a later decision of the same epoch, arrived before. */
    SEEN_BEFORE,
    /** It is only advice. */
    ADVISORY,
    /** It names a GPU that no node declares. */
    GPU_UNKNOWN,
    /** It is about a GPU of another domain, or a running job of another domain has the same name. */
    OTHER_DOMAIN,
    /** It binds a GPU whose release has not been reported. */
    GPU_HELD,
    /** It is about a GPU that the tenant does not have. */
    GPU_NOT_HELD,
    /** It gives a job an inference GPU that is not on loan to it. */
    NOT_ON_LOAN,
    /** Its lease is over already. */
    LEASE_OVER,
    /** It gives a GPU, and arrived after its deadline. */
    TOO_LATE,
    /** No driver here can do it. */
    UNSUPPORTED,
    /** A cause that a later version has counted. */
    UNKNOWN
}
