package io.lendstream.simulator;

import java.util.random.RandomGenerator;

/** Random counts. */
final class Counts {
    private static final double LARGE = 60;

    private Counts() {}

    /**
     * A count with a mean, whose variance is {@code mean * (1 + dispersion * mean)}: Poisson with a mean that itself
     * follows a Gamma distribution.
     */
    static long gammaPoisson(double mean, double dispersion, RandomGenerator chance) {
        if (!(mean > 0)) {
            return 0;
        }
        return poisson(dispersion > 0 ? gamma(1 / dispersion, chance) * dispersion * mean : mean, chance);
    }

    private static long poisson(double mean, RandomGenerator chance) {
        if (mean > LARGE) {
            return Math.max(0, Math.round(mean + Math.sqrt(mean) * chance.nextGaussian()));
        }
        double limit = Math.exp(-mean);
        long count = 0;
        for (double product = chance.nextDouble(); product > limit; product *= chance.nextDouble()) {
            count++;
        }
        return count;
    }

    /** Gamma with scale 1 (Marsaglia and Tsang, 2000). */
    private static double gamma(double shape, RandomGenerator chance) {
        if (shape < 1) {
            return gamma(shape + 1, chance) * Math.pow(chance.nextDouble(), 1 / shape);
        }
        double d = shape - 1.0 / 3;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = chance.nextGaussian();
            double v = Math.pow(1 + c * x, 3);
            double u = chance.nextDouble();
            if (v > 0 && Math.log(u) < x * x / 2 + d - d * v + d * Math.log(v)) {
                return d * v;
            }
        }
    }
}
