package io.lendstream.core.forecast;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * Linear regression that forgets: every observation weighs a little less than the one after it. Its factors are held
 * back towards zero by a ridge in proportion to what each feature has shown.
 */
public final class LeastSquares {
    /** Added to the diagonal, so that a feature that was always zero gets the factor zero. */
    private static final double HAIR = 1e-6;

    private final int size;
    private final double ridge;
    /** Lower triangle of the weighted sum of outer products, row by row. */
    private final float[] products;

    private final float[] targets;

    public LeastSquares(int size, double ridge) {
        this.size = size;
        this.ridge = ridge;
        products = new float[size * (size + 1) / 2];
        targets = new float[size];
    }

    /**
     * Adds one observation.
     *
     * @param keep factor on the weight of all earlier observations
     */
    public void learn(double[] features, double target, double weight, double keep) {
        int at = 0;
        for (int i = 0; i < size; i++) {
            double weighted = weight * features[i];
            for (int j = 0; j <= i; j++) {
                products[at] = (float) (keep * products[at] + weighted * features[j]);
                at++;
            }
            targets[i] = (float) (keep * targets[i] + weighted * target);
        }
    }

    /** What a feature has shown: the weighted sum of its squares. */
    public double shown(int feature) {
        return products[feature * (feature + 1) / 2 + feature];
    }

    /**
     * The factors of some of the features, by Cholesky's decomposition; those of all others are zero.
     *
     * @param used which features, in increasing order
     */
    public float[] factors(int... used) {
        return factorsWith(ridge, used);
    }

    /** The same with another ridge. */
    public float[] factorsWith(double ridge, int... used) {
        double[][] triangle = new double[used.length][used.length];
        double[] solved = new double[used.length];
        for (int i = 0; i < used.length; i++) {
            for (int j = 0; j <= i; j++) {
                double sum = products[used[i] * (used[i] + 1) / 2 + used[j]];
                if (i == j) {
                    sum += ridge * sum + HAIR;
                }
                for (int k = 0; k < j; k++) {
                    sum -= triangle[i][k] * triangle[j][k];
                }
                triangle[i][j] = i == j ? Math.sqrt(Math.max(sum, HAIR * HAIR)) : sum / triangle[j][j];
            }
            double sum = targets[used[i]];
            for (int k = 0; k < i; k++) {
                sum -= triangle[i][k] * solved[k];
            }
            solved[i] = sum / triangle[i][i];
        }
        float[] factors = new float[size];
        for (int i = used.length - 1; i >= 0; i--) {
            double sum = solved[i];
            for (int k = i + 1; k < used.length; k++) {
                sum -= triangle[k][i] * solved[k];
            }
            solved[i] = sum / triangle[i][i];
            factors[used[i]] = (float) solved[i];
        }
        return factors;
    }

    public static double of(float[] factors, double[] features) {
        double sum = 0;
        for (int i = 0; i < factors.length; i++) {
            sum += factors[i] * features[i];
        }
        return sum;
    }

    /** Keeps factors of the features that are used; those of all others are zero. */
    public static void save(StateWriter out, float[] factors, int... used) {
        float[] some = new float[used.length];
        for (int i = 0; i < used.length; i++) {
            some[i] = factors[used[i]];
        }
        out.numbers(some);
    }

    /** Before format 5 the zeros were kept, too. */
    public static void load(StateReader in, float[] factors, int... used) {
        if (in.isBefore(5)) {
            in.numbers(factors);
            return;
        }
        float[] some = new float[used.length];
        in.numbers(some);
        for (int i = 0; i < used.length; i++) {
            factors[used[i]] = some[i];
        }
    }

    public void save(StateWriter out) {
        out.numbers(products).numbers(targets);
    }

    public void load(StateReader in) {
        in.numbers(products);
        in.numbers(targets);
    }
}
