package io.lendstream.core.decision;

import java.util.Locale;

/** The part of a request that a replica works on. */
public enum ReplicaRole {
    /** Written by a newer version: such replicas are not planned. */
    UNKNOWN,
    /** The whole request. */
    ALL,
    /** The input of the request, up to the first token of the answer. */
    PREFILL,
    /** The tokens of the answer. */
    DECODE;

    /** Whether each request needs a replica of another role too. */
    public boolean isPart() {
        return this == PREFILL || this == DECODE;
    }

    /** For people, such as {@code prefill}. */
    public String inWords() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A replica of this role, such as {@code prefill replica}; {@code replica} if it works on whole requests. */
    public String replica() {
        return isPart() ? inWords() + " replica" : "replica";
    }
}
