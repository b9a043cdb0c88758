package io.lendstream.core.actuation;

/** Why an actuator did not take a decision up, or not for all of its GPUs. */
public enum Refusal {
    /** Its epoch is over: another scheduler has decided since. */
    OLD_EPOCH,
    /** It, or a later one of the same epoch, was taken up before. */
    SEEN_BEFORE,
    /** It is only advice. */
    ADVISORY,
    /** It names a GPU that no known node has. */
    GPU_UNKNOWN,
    /** It is about a GPU of another domain, or about a job whose name a running job of another domain has. */
    OTHER_DOMAIN,
    /** It binds a GPU whose release has not been reported. */
    GPU_HELD,
    /** It is about a GPU that the tenant does not hold. */
    GPU_NOT_HELD,
    /** It gives a job an inference GPU that is not on loan to it. */
    NOT_ON_LOAN,
    /** Its lease is over already. */
    LEASE_OVER,
    /** No driver here can do it. */
    UNSUPPORTED
}
