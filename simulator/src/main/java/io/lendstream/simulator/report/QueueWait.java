package io.lendstream.simulator.report;

/**
 * How long a queue waited for its nominal quota.
 *
 * @param asks jobs that waited for it, each time
 * @param longestSeconds the longest of these waits; 0 without any
 */
public record QueueWait(String queue, long asks, double longestSeconds) {}
