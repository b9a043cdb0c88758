package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * Detects that demand has moved to another level: three steps in a row far from the forecast, all on the same side, and
 * farther than all recent ones. It ends when three steps in a row are as forecast. A single outlier is no shift, and a
 * series that often jumps soon gives no alarm.
 */
final class LevelShift {
    private static final int STEPS = 3;
    private static final double LEAST = Math.log(2);
    /** A shift is so many times farther than what three steps in a row have shown lately. */
    private static final double FARTHER = 2;
    /** A surprise of this size or less is none. */
    private static final double EXPECTED = LEAST / 2;

    private final double keep;
    private double before;
    private double twoBefore;
    private double farthest;
    private int calm = STEPS;

    /** @param memorySteps the number of steps after which most of the past is forgotten */
    LevelShift(double memorySteps) {
        keep = 1 - 1 / memorySteps;
    }

    /** Takes in by how much a step's level was higher than expected. */
    void learn(double surprise) {
        boolean oneSide = surprise * before > 0 && before * twoBefore > 0;
        double far = oneSide ? Math.min(Math.abs(surprise), Math.min(Math.abs(before), Math.abs(twoBefore))) : 0;
        if (far > LEAST && far > FARTHER * farthest) {
            calm = 0;
        } else if (Math.abs(surprise) <= EXPECTED) {
            calm = Math.min(STEPS, calm + 1);
        } else if (calm < STEPS) {
            calm = 0;
        }
        farthest = Math.max(keep * farthest, far);
        twoBefore = before;
        before = surprise;
    }

    /** Whether demand is at another level than its past suggests. */
    boolean on() {
        return calm < STEPS;
    }

    void save(StateWriter out) {
        out.number(before).number(twoBefore).number(farthest).integer(calm);
    }

    void load(StateReader in) {
        before = in.number();
        twoBefore = in.number();
        farthest = in.number();
        calm = in.integer();
    }
}
