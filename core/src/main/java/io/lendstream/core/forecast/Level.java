package io.lendstream.core.forecast;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * The probability at which a spread must be read so that the promised share really stays under it. It moves up a little
 * after a step above the forecast and down by so much less after one under it that the two balance at the promise, and
 * comes back slowly, so that a bad day is not paid for during weeks.
 *
 * @see <a href="https://arxiv.org/abs/2106.00170">Gibbs and Candès, Adaptive conformal inference under distribution
 *     shift, NeurIPS 2021</a>
 */
public final class Level {
    private final double promised;
    private final double gain;
    private final double back;
    private final double lowest;
    private final double highest;
    private double level;

    public Level(double promised, double gain, double back, double lowest, double highest) {
        this.promised = promised;
        this.gain = gain;
        this.back = back;
        this.lowest = lowest;
        this.highest = highest;
        level = promised;
    }

    public double level() {
        return level;
    }

    public void learn(boolean under) {
        double moved = level + gain * (promised - (under ? 1 : 0)) + back * (promised - level);
        level = Math.max(lowest, Math.min(highest, moved));
    }

    public void save(StateWriter out) {
        out.number(level);
    }

    public void load(StateReader in) {
        level = in.number();
    }
}
