package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts how often a job's workers have failed in each slot, or could not be started. It determines the next start.
 * The cause of a failed start may be temporary (a full disk, a late mount), so it is retried a limited number of
 * times with growing pauses.
 */
final class Failures {
    /** Failed starts allowed in a slot: with 1, 2, 4, 8 and 16 s between them, half a minute in all. */
    static final int MOST_STARTS = 6;

    private static final Duration BETWEEN_RESTARTS = Duration.ofMillis(500);
    private static final Duration BETWEEN_STARTS = Duration.ofSeconds(1);

    private final int maxRestarts;
    private final Map<GpuId, Integer> ended = new HashMap<>();
    private final Map<GpuId, Integer> unstarted = new HashMap<>();
    private final Map<GpuId, Long> notBefore = new HashMap<>();

    /** @param maxRestarts how many workers may fail in a slot before no more are started there */
    Failures(int maxRestarts) {
        this.maxRestarts = maxRestarts;
    }

    /** Records that a worker has failed; returns how many have so far. */
    int ended(GpuId slot) {
        return ended.merge(slot, 1, Integer::sum);
    }

    /**
     * Records that a worker could not be started.
     *
     * @param nowNanos a time of {@link System#nanoTime}
     */
    void unstarted(GpuId slot, boolean isHopeless, long nowNanos) {
        int tries = isHopeless ? MOST_STARTS : unstarted.getOrDefault(slot, 0) + 1;
        unstarted.put(slot, tries);
        notBefore.put(slot, nowNanos + BETWEEN_STARTS.toNanos() * (1L << (Math.min(tries, MOST_STARTS) - 1)));
    }

    void started(GpuId slot) {
        unstarted.remove(slot);
        notBefore.remove(slot);
    }

    boolean isGivenUp(GpuId slot) {
        return ended.getOrDefault(slot, 0) > maxRestarts || unstarted.getOrDefault(slot, 0) >= MOST_STARTS;
    }

    /** Whether the next start must wait, because the last one did not succeed. */
    boolean mustWait(GpuId slot, long nowNanos) {
        Long from = notBefore.get(slot);
        return from != null && nowNanos - from < 0;
    }

    /** The delay of the next start after the last worker's end. */
    Duration restartDelay(GpuId slot) {
        return BETWEEN_RESTARTS.multipliedBy(ended.getOrDefault(slot, 0));
    }

    void clear() {
        ended.clear();
        unstarted.clear();
        notBefore.clear();
    }
}
