package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.Level;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * The probability at which a spread must be read so that p99 really is passed once in a hundred steps. The probability
 * above it shrinks and grows with the share of steps that recently passed:
 *
 * <p>{@code 1 - level = 0.01 * exp(-force * (passed / 0.01 - 1))}, {@code passed} being a mean with forgetting.
 *
 * <p>Unlike a {@link Level}'s, the force is the same whatever the step: a share that stays off the promise for a week
 * changes the level by as much at ten minutes as at one. Only where horizons overlap it is less, as forecasts then err
 * together and the share is less certain. Levels end where ten days of errors give little more evidence of the spread's
 * reach.
 *
 * <p>An answer takes evidence: it grows with the forecasts judged and is whole when five of them should have been
 * passed; and the mean is over so many forecasts, however long the step, that none is worth the whole range.
 *
 * @see <a href="https://arxiv.org/abs/2307.16895">Angelopoulos, Candès and Tibshirani, Conformal PID control for time
 *     series prediction, NeurIPS 2023: error integration</a>
 */
final class TailLevel {
    private static final double PROMISED = 0.01;
    private static final double MEMORY_DAYS = 7;
    private static final double FORCE = 4;
    private static final double LOWEST = 0.96;
    private static final double HIGHEST = 0.996;
    /** How many steps the promise is worth before any share is known. */
    private static final double PROMISE_WEIGHT = 100;
    /** After how many forecasts an answer is whole. Half of all services pass none of the first 69. */
    private static final double EVIDENCE = 500;
    /** The mean is over so many forecasts at least. */
    private static final double SHORTEST_MEMORY = 1000;

    private final double force;
    private final double gain;
    private final double promiseWeight;
    private double level = 1 - PROMISED;

    /**
     * @param originsPerDay how many forecasts are judged a day
     * @param overlap the number of judged forecasts in a row that count as one, because their horizons overlap
     */
    TailLevel(double originsPerDay, double overlap) {
        force = FORCE / Math.sqrt(Math.sqrt(overlap));
        gain = 1 / Math.max(SHORTEST_MEMORY, MEMORY_DAYS * originsPerDay);
        promiseWeight = PROMISE_WEIGHT * overlap;
    }

    /** @param judged how many forecasts have been judged */
    double level(double judged) {
        return limited(1 - PROMISED * Math.exp(-answer(level) * Math.min(1, judged / EVIDENCE)));
    }

    /**
     * How much too little has been covered: 0 for no less than promised, 1 if the level is as high as it may be.
     *
     * @param judged how many forecasts have been judged
     */
    double strain(double judged) {
        return Math.max(0, answer(level(judged)) / answer(HIGHEST));
    }

    /** @param judged how many forecasts have been judged, this one included */
    void learn(boolean under, double judged) {
        double answer = answer(level);
        double newest = force * ((under ? 0 : 1) / PROMISED - 1);
        answer += Math.max(gain, 1 / (judged + promiseWeight)) * (newest - answer);
        level = limited(1 - PROMISED * Math.exp(-answer));
    }

    private static double answer(double level) {
        return -Math.log((1 - level) / PROMISED);
    }

    private static double limited(double level) {
        return Math.max(LOWEST, Math.min(HIGHEST, level));
    }

    void save(StateWriter out) {
        out.number(level);
    }

    void load(StateReader in) {
        level = limited(in.number());
    }
}
