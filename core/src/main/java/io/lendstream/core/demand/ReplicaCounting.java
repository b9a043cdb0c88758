package io.lendstream.core.demand;

/** Turns a rate of requests into replicas. */
@FunctionalInterface
public interface ReplicaCounting {
    /** Replicas that answer so many requests per second within the SLO, the floor left aside. */
    int replicasFor(double requestsPerSecond);
}
