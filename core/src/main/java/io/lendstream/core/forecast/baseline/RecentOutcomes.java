package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Arrays;

/** What was noted at a step, kept until one horizon later, when it can be held against what came. */
final class RecentOutcomes {
    private final float[] ring;

    RecentOutcomes(int horizonSteps) {
        ring = new float[horizonSteps];
        Arrays.fill(ring, Float.NaN);
    }

    static RecentOutcomes[] ofEach(int[] horizonSteps) {
        return Arrays.stream(horizonSteps).mapToObj(RecentOutcomes::new).toArray(RecentOutcomes[]::new);
    }

    /**
     * What was noted one horizon before this step, as long as this step's own note has not replaced it; NaN for
     * nothing.
     */
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
