package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Arrays;

/**
 * Weighs experts by how much better than the mixture each would have been lately: polynomial weights on regrets that
 * fade.
 *
 * <p>An expert's regret is the sum of the savings that each request less of error would bring along the mixture's own
 * error, {@code sign(mixture - actual) * (mixture - expert)}; its weight is its positive regret over its squared
 * regrets. So weights go to experts that stand on the right side of the mixture, not to those that are near it.
 *
 * @see <a href="https://arxiv.org/abs/1402.2044">Gaillard, Stoltz and van Erven, A second-order bound with excess
 *     losses, COLT 2014 (ML-Poly)</a>
 */
final class Mixture {
    /** A regret counts as no more than so many mean errors of the mixture. */
    private static final double MOST = 5;
    /** The same for a single error in the mean of errors. */
    private static final double MOST_ERRORS = 10;

    private static final int ERRORS_TO_TRUST = 30;
    /** Squared regrets that each expert begins with, so that a few lucky forecasts give little weight. */
    private static final double FIRST_SQUARES = 15;

    private final float[] regrets;
    private final float[] squares;
    private final double keep;
    private final double dayOrigins;
    private double meanError;
    private double seen;

    /**
     * @param keep what remains of a regret until the next
     * @param dayOrigins how many forecasts are judged a day
     */
    Mixture(int experts, double keep, double dayOrigins) {
        regrets = new float[experts];
        squares = new float[experts];
        this.keep = keep;
        this.dayOrigins = dayOrigins;
    }

    /**
     * What came is known.
     *
     * @param experts the forecast of each; NaN for none
     * @param mixed the forecast of the mixture
     */
    void learn(double[] experts, double mixed, double actual) {
        double error = Math.abs(mixed - actual);
        seen = Math.min(seen + 1, dayOrigins);
        double counted = seen > ERRORS_TO_TRUST ? Math.min(error, MOST_ERRORS * meanError) : error;
        meanError += (counted - meanError) / seen;
        double side = Math.signum(mixed - actual);
        for (int i = 0; i < regrets.length; i++) {
            if (!Double.isNaN(experts[i])) {
                double regret = meanError > 0 ? side * (mixed - experts[i]) / meanError : 0;
                regret = Math.max(-MOST, Math.min(MOST, regret));
                regrets[i] = (float) (keep * regrets[i] + regret);
                squares[i] = (float) (keep * squares[i] + regret * regret);
            }
        }
    }

    /** The weighted mean of the experts' forecasts; NaN if there is none. */
    double of(double[] experts) {
        double mixed = 0;
        double weights = 0;
        for (int i = 0; i < regrets.length; i++) {
            if (regrets[i] > 0 && !Double.isNaN(experts[i])) {
                double weight = regrets[i] / (FIRST_SQUARES + squares[i]);
                mixed += weight * experts[i];
                weights += weight;
            }
        }
        if (weights > 0) {
            return mixed / weights;
        }
        return Arrays.stream(experts)
                .filter(each -> !Double.isNaN(each))
                .average()
                .orElse(Double.NaN);
    }

    void save(StateWriter out) {
        out.numbers(regrets).numbers(squares).number(meanError).number(seen);
    }

    void load(StateReader in) {
        in.numbers(regrets);
        in.numbers(squares);
        meanError = in.number();
        seen = in.number();
    }
}
