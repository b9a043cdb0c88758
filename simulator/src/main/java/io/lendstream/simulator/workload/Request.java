package io.lendstream.simulator.workload;

import java.time.Duration;
import java.time.Instant;

/**
 * One request.
 *
 * @param duration how long a replica computes it
 */
public record Request(String name, Instant at, Duration duration) {}
