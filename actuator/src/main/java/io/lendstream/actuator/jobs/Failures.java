package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * How often a job's workers have failed in each slot, or could not even be started there, and when the next may be started. The
 * cause of the latter may pass (a full disk, a mount that is late), so it is tried again, ever more slowly, but not for ever.
 */
final class Failures {
    /** Starts that may fail in a slot: with 1, 2, 4, 8 and 16 s between them, half a minute in all. */
    static final int MOST_STARTS = 6;

    private static final Duration BETWEEN_RESTARTS = Duration.ofMillis(500);
    private static final Duration BETWEEN_STARTS = Duration.ofSeconds(1);

    private final int maxRestarts;
    private final Map<GpuId, Integer> ended = new HashMap<>();
    private final Map<GpuId, Integer> unstarted = new HashMap<>();
    private final Map<GpuId, Long> notBefore = new HashMap<>();

    /** @param maxRestarts how many workers may end in failure in a slot before no more are started there */
    Failures(int maxRestarts) {
        this.maxRestarts = maxRestarts;
    }

    /** A worker has ended in failure; returns how many have so far. */
    int ended(GpuId slot) {
        return ended.merge(slot, 1, Integer::sum);
    }

    /**
     * A worker could not be started.
     *
     * @param nowNanos from {@link System#nanoTime}
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

    /** Whether the next start has to wait, because the last one did not succeed. */
    boolean mustWait(GpuId slot, long nowNanos) {
        Long from = notBefore.get(slot);
        return from != null && nowNanos - from < 0;
    }

    /** How long after the last worker's end the next may be started. */
    Duration restartDelay(GpuId slot) {
        return BETWEEN_RESTARTS.multipliedBy(ended.getOrDefault(slot, 0));
    }

    void clear() {
        ended.clear();
        unstarted.clear();
        notBefore.clear();
    }
}
