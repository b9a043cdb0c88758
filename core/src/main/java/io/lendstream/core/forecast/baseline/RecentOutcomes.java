package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Arrays;

/** The notes of recent steps, kept for one horizon, until they can be compared with the outcome. */
final class RecentOutcomes {
    private final float[] ring;

    RecentOutcomes(int horizonSteps) {
        ring = new float[horizonSteps];
        Arrays.fill(ring, Float.NaN);
    }

    static RecentOutcomes[] ofEach(int[] horizonSteps) {
        return Arrays.stream(horizonSteps).mapToObj(RecentOutcomes::new).toArray(RecentOutcomes[]::new);
    }

    /** The note of one horizon before this step, until this step's own note replaces it; NaN if there is none. */
    double at(long step) {
        return ring[slot(step)];
    }

    void put(long step, double value) {
        ring[slot(step)] = (float) value;
    }

    private int slot(long step) {
        return Math.floorMod(step, ring.length);
    }

    void save(StateWriter out) {
        out.numbers(ring);
    }

    void load(StateReader in) {
        in.numbers(ring);
    }
}
