package io.lendstream.benchmarks.soak;

import java.util.Arrays;

/**
 * The growth of a figure: the slope of a straight line through its samples, with a 95 % interval.
 *
 * <p>Successive samples are correlated, so the interval comes from blocks of them: the slope of the line through the
 * means of {@value #BLOCKS} blocks.
 *
 * @param perMinute the growth in the unit of the figure per minute
 * @param low lower end of the interval
 * @param high upper end of the interval
 */
record Slope(double perMinute, double low, double high) {
    static final int BLOCKS = 8;
    /** Student's t for {@value #BLOCKS} − 2 degrees of freedom, 97.5 %. */
    private static final double T = 2.447;

    /**
     * The slope of samples.
     *
     * @param minutes when each was taken, ascending
     * @param values as many
     * @throws IllegalArgumentException where there are fewer than two samples a block
     */
    static Slope of(double[] minutes, double[] values) {
        if (minutes.length != values.length || values.length < 2 * BLOCKS) {
            throw new IllegalArgumentException("%d samples at %d times, but at least %d of each are needed"
                    .formatted(values.length, minutes.length, 2 * BLOCKS));
        }
        double[] x = blocks(minutes);
        double[] y = blocks(values);
        double meanX = Arrays.stream(x).average().orElseThrow();
        double meanY = Arrays.stream(y).average().orElseThrow();
        double xx = 0;
        double xy = 0;
        for (int i = 0; i < BLOCKS; i++) {
            xx += (x[i] - meanX) * (x[i] - meanX);
            xy += (x[i] - meanX) * (y[i] - meanY);
        }
        double slope = xy / xx;
        double rest = 0;
        for (int i = 0; i < BLOCKS; i++) {
            double miss = y[i] - meanY - slope * (x[i] - meanX);
            rest += miss * miss;
        }
        double error = T * Math.sqrt(rest / (BLOCKS - 2) / xx);
        return new Slope(slope, slope - error, slope + error);
    }

    private static double[] blocks(double[] values) {
        double[] means = new double[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            int from = i * values.length / BLOCKS;
            int to = (i + 1) * values.length / BLOCKS;
            means[i] = Arrays.stream(values, from, to).average().orElseThrow();
        }
        return means;
    }
}
