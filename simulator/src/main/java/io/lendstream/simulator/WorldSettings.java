package io.lendstream.simulator;

import java.time.Duration;

/**
 * The settings of a world: its seed, and when it reports.
 *
 * @param seed the seed of all random numbers in it
 * @param window length of the windows that request rates are reported by
 * @param progressEvery how often a running job reports its progress
 * @param rigidProgress whether jobs of fixed size report progress between changes too; only policies that need
 *     durations ask for it
 * @param checkpointEvery how often a running job writes a checkpoint; it also has one of its last change
 * @param source who it says measured request rates
 */
public record WorldSettings(
        long seed,
        Duration window,
        Duration progressEvery,
        boolean rigidProgress,
        Duration checkpointEvery,
        String source) {
    public WorldSettings {
        if (window.toMillis() % RateRun.SLOT.toMillis() != 0 || window.isZero()) {
            throw new IllegalArgumentException("the window of request rates must be a multiple of %d s, but was %s"
                    .formatted(RateRun.SLOT.toSeconds(), window));
        }
        if (progressEvery.toMillis() < 1000) {
            throw new IllegalArgumentException(
                    "jobs must report progress every 1 s or more seldom, but were to do it every " + progressEvery);
        }
    }

    public static WorldSettings of(long seed) {
        return new WorldSettings(
                seed, Duration.ofSeconds(15), Duration.ofSeconds(60), true, Duration.ofMinutes(10), "environment");
    }

    /** The same, with jobs of fixed size that tell nothing but when they start, stop and end. */
    public WorldSettings withoutRigidProgress() {
        return new WorldSettings(seed, window, progressEvery, false, checkpointEvery, source);
    }
}
