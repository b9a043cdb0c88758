package io.lendstream.core.id;

/** What a node was bought for. Only GPUs of the inference pool are ever lent. */
public enum Pool {
    /** Not known to this version; such a node is never touched. */
    UNKNOWN,
    TRAINING,
    INFERENCE
}
