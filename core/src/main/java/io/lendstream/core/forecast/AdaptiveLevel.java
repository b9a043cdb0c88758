package io.lendstream.core.forecast;

/**
 * The probability at which an empirical quantile must be read so that the promised share really stays under it. After a
 * step above the forecast it moves up a little, after one under it down by so much less that the two balance at the
 * promise, whatever the series does.
 *
 * @see <a href="https://arxiv.org/abs/2106.00170">Gibbs and Candès, Adaptive conformal inference under distribution
 *     shift, NeurIPS 2021</a>
 */
final class AdaptiveLevel {
    /** The share outside may shrink and grow by these factors. */
    private static final double LEAST_OUTSIDE = 0.05;

    private static final double MOST_OUTSIDE = 3;

    private final double promised;
    private final double gain;
    private final double lowest;
    private final double highest;
    private double level;

    AdaptiveLevel(double promised, double gain) {
        this.promised = promised;
        this.gain = gain;
        double outside = Math.min(promised, 1 - promised);
        double narrow = MOST_OUTSIDE * outside;
        double wide = LEAST_OUTSIDE * outside;
        lowest = promised < 0.5 ? wide : 1 - narrow;
        highest = promised < 0.5 ? narrow : 1 - wide;
        level = promised;
    }

    double level() {
        return level;
    }

    void learn(boolean under) {
        level = Math.max(lowest, Math.min(highest, level + gain * (promised - (under ? 1 : 0))));
    }

    void save(StateWriter out) {
        out.number(level);
    }

    void load(StateReader in) {
        level = in.number();
    }
}
