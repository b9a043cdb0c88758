package io.lendstream.core.decision;

/** The part of a request that a replica works on. */
public enum ReplicaRole {
    /** Written by a newer version: such replicas are not planned. */
    UNKNOWN,
    /** The whole request. */
    ALL
}
