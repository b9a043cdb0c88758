package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * How errors in units of their expected size are spread: a histogram with forgetting, narrow bins around zero and wide
 * ones far out. It begins as a wide guess, which fades like everything in it.
 */
final class Scores {
    private static final int BINS = 48;
    /** Bins lie evenly on asinh(score), up to 50 below and above. */
    private static final double REACH = 4.6;

    private static final double WIDTH = 2 * REACH / BINS;
    /** How many scores the first guess is worth, and the scale of its logistic shape, whose mean size is one. */
    private static final double GUESS_WEIGHT = 20;

    private static final double GUESS_SCALE = 0.72;
    private static final double RESCALE_AT = 1e20;

    private final float[] weights = new float[BINS];
    private final double growth;
    /** The weight of the next score; it grows instead of all others fading. */
    private double weight = 1;

    private double total;

    /** @param memory about so many scores count */
    Scores(double memory) {
        growth = 1 / (1 - 1 / memory);
        for (int bin = 0; bin < BINS; bin++) {
            weights[bin] = (float) (GUESS_WEIGHT * (guessBelow(bin + 1) - guessBelow(bin)));
            total += weights[bin];
        }
    }

    private static double guessBelow(int edge) {
        return edge == 0 ? 0 : edge == BINS ? 1 : 1 / (1 + Math.exp(-edge(edge) / GUESS_SCALE));
    }

    void add(double score) {
        weight *= growth;
        if (weight > RESCALE_AT) {
            for (int bin = 0; bin < BINS; bin++) {
                weights[bin] = (float) (weights[bin] / weight);
            }
            total /= weight;
            weight = 1;
        }
        double asinh = Math.copySign(Math.log(Math.abs(score) + Math.sqrt(score * score + 1)), score);
        weights[(int) Math.max(0, Math.min(BINS - 1, Math.floor((asinh + REACH) / WIDTH)))] += (float) weight;
        total += weight;
    }

    /** The score that is not exceeded with this probability. */
    double quantile(double probability) {
        double wanted = probability * total;
        double below = 0;
        for (int bin = 0; bin < BINS; bin++) {
            if (below + weights[bin] >= wanted && weights[bin] > 0) {
                double within = (wanted - below) / weights[bin];
                return edge(bin) + within * (edge(bin + 1) - edge(bin));
            }
            below += weights[bin];
        }
        return edge(BINS);
    }

    private static double edge(int bin) {
        return Math.sinh(-REACH + bin * WIDTH);
    }

    void save(StateWriter out) {
        out.numbers(weights).number(weight).number(total);
    }

    void load(StateReader in) {
        in.numbers(weights);
        weight = in.number();
        total = in.number();
    }
}
