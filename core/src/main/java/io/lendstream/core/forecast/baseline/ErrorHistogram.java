package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * How forecasts at one horizon have erred: a histogram of log errors with forgetting, narrow bins around zero and wide
 * ones far out. Before there is history it is a wide guess, whose weight fades as errors come in.
 */
final class ErrorHistogram {
    private static final int BINS = 128;
    /** Bins lie evenly on asinh(error / CORE), from -REACH to REACH: errors up to a factor of 87, a core of 0.02 %. */
    private static final double CORE = 0.003;

    private static final double REACH = 8;
    private static final double WIDTH = 2 * REACH / BINS;
    /** About this many errors count. */
    private static final double MEMORY = 2000;
    /** How many errors the first guess is worth, and after how many it is worth half of that. */
    private static final double PRIOR_WEIGHT = 20;

    private final double priorScale;
    private final double overlap;
    private final float[] weights = new float[BINS];

    /**
     * @param priorScale scale of the logistic distribution that errors are taken to have before there is history
     * @param overlap the number of errors in a row that count as one, because their horizons overlap
     */
    ErrorHistogram(double priorScale, double overlap) {
        this.priorScale = priorScale;
        this.overlap = overlap;
    }

    void add(double error) {
        double keep = 1 - 1 / MEMORY;
        for (int bin = 0; bin < BINS; bin++) {
            weights[bin] = (float) (weights[bin] * keep);
        }
        weights[bin(error)] += 1;
    }

    /** The log error that is not exceeded with this probability. */
    double quantile(double probability) {
        double total = 0;
        for (float weight : weights) {
            total += weight;
        }
        double worth = total / overlap;
        double prior = PRIOR_WEIGHT / (1 + worth / PRIOR_WEIGHT);
        double seenShare = worth / (worth + prior);
        double below = 0;
        double seen = 0;
        for (int bin = 0; bin < BINS; bin++) {
            seen += weights[bin];
            double upTo = bin == BINS - 1
                    ? 1
                    : seenShare * (total > 0 ? seen / total : 0) + (1 - seenShare) * priorBelow(edge(bin + 1));
            if (upTo >= probability) {
                double within = upTo > below ? (probability - below) / (upTo - below) : 1;
                return edge(bin) + within * (edge(bin + 1) - edge(bin));
            }
            below = upTo;
        }
        return edge(BINS);
    }

    private double priorBelow(double error) {
        return 1 / (1 + Math.exp(-error / priorScale));
    }

    private static int bin(double error) {
        double scaled = error / CORE;
        double asinh = Math.copySign(Math.log(Math.abs(scaled) + Math.sqrt(scaled * scaled + 1)), scaled);
        return (int) Math.max(0, Math.min(BINS - 1, Math.floor((asinh + REACH) / WIDTH)));
    }

    /** The lower edge of a bin. */
    private static double edge(int bin) {
        return CORE * Math.sinh(-REACH + bin * WIDTH);
    }

    void save(StateWriter out) {
        out.numbers(weights);
    }

    void load(StateReader in) {
        in.numbers(weights);
    }
}
