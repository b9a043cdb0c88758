package io.lendstream.core.id;

/** The purpose of a node. Only GPUs of the inference pool are ever lent. */
public enum Pool {
    /** Not known to this version; such a node is never touched. */
    UNKNOWN,
    TRAINING,
    INFERENCE
}
