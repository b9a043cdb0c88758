package io.lendstream.core.state;

/** Who started what runs on the GPUs of a job. */
public enum JobOrigin {
    /** States of older versions do not say: it is as its owner declares. */
    UNKNOWN,
    LENDSTREAM,
    /** It ran before, and was taken over as it was. */
    ADOPTED
}
