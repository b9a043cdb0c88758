package io.lendstream.simulator.replay;

import java.time.Duration;
import java.time.Instant;

/**
 * How far a replay has got.
 *
 * @param now its virtual time
 * @param share of the workload that is done, from 0 to 1
 * @param wall how long it has taken so far
 */
public record ReplayProgress(Instant now, double share, Duration wall) {}
