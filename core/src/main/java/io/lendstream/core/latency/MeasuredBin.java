package io.lendstream.core.latency;

import java.util.Optional;

/**
 * The measurements in a bin. Each newer batch takes half a per cent off the weight of the older ones, so that about 200
 * count.
 *
 * <p>A server reports sums, which give no quantiles; times of batches vary little, and in proportion. So a mean and a
 * variance of logarithms are kept, and quantiles are those of a lognormal.
 *
 * @param batches how many there were
 * @param weight of them after the forgetting, in batches
 * @param batch their mean size
 * @param size mean of their inputs' sizes
 * @param logMillis mean of the logarithms of reported means
 * @param squares sum of squares of the deviations of single batches' logarithms from the expectation; older reports
 *     count less
 * @param degrees degrees of freedom of that sum
 * @param at number of the last report, by which the bin that has been idle for longest is known
 * @param fitted the mean when the model was last fitted; empty before
 */
public record MeasuredBin(
        LatencyBin bin,
        long batches,
        double weight,
        double batch,
        double size,
        double logMillis,
        double squares,
        double degrees,
        long at,
        Optional<Double> fitted) {
    /** The number of batches from which a bin gives a better latency than the hinge. */
    static final int ENOUGH = 50;

    private static final double KEPT = .995;
    private static final double HEARSAY = 5;
    /**
     * Reports of more batches do not vary as little as independent batches would: they share clocks and temperatures.
     */
    private static final int MOST_INDEPENDENT = 25;

    private static final double MOST_DEGREES = 1 / (1 - KEPT);
    /** A mean that has moved by less, or by less than chance moves it, is no reason to fit again. */
    private static final double MATERIAL = .01;

    public MeasuredBin {
        if (batches < 0 || !(weight >= 0) || !(squares >= 0) || !(degrees >= 0) || !Double.isFinite(logMillis)) {
            throw new IllegalArgumentException(
                    "a bin must have numbers of at least 0 and a mean, but had %d batches of weight %s, squares %s of %s and mean %s"
                            .formatted(batches, weight, squares, degrees, logMillis));
        }
    }

    static MeasuredBin of(ServedBatches first, long at) {
        MeasuredBin empty = new MeasuredBin(
                LatencyBin.of(first.slice(), first.batch(), first.size()), 0, 0, 0, 0, 0, 0, 0, at, Optional.empty());
        return empty.with(first, first.logMillis(), at);
    }

    /** What so many batches count after the forgetting. */
    static double weight(long batches) {
        return (1 - Math.pow(KEPT, (double) batches)) / (1 - KEPT);
    }

    /**
     * With more batches.
     *
     * @param expected logarithm of the milliseconds that this bin expected of them
     */
    MeasuredBin with(ServedBatches served, double expected, long now) {
        double newer = weight(served.count());
        double sum = weight * Math.pow(KEPT, (double) served.count()) + newer;
        double share = newer / sum;
        double off = served.logMillis() - expected;
        double between = batches == 0 ? 0 : 1 / (1.0 / Math.min(served.count(), MOST_INDEPENDENT) + 1 / weight);
        double within = served.squaredDeviation().isPresent() ? Math.min(served.count() - 1.0, MOST_DEGREES) : 0;
        double variance = within == 0
                ? 0
                : served.squaredDeviation().get() / (served.count() - 1) / (served.meanMillis() * served.meanMillis());
        return new MeasuredBin(
                bin,
                batches + served.count(),
                sum,
                batch + share * (served.batch() - batch),
                size + share * (served.size() - size),
                logMillis + share * (served.logMillis() - logMillis),
                KEPT * squares + between * off * off + within * variance,
                KEPT * degrees + (batches == 0 ? 0 : 1) + within,
                now,
                fitted);
    }

    boolean isMeasured() {
        return batches >= ENOUGH;
    }

    /**
     * Standard deviation of the logarithm of a batch's time; as if two batches more had been off by the usual noise.
     */
    double noise() {
        return Math.sqrt((squares + 2 * LatencyFit.NOISE * LatencyFit.NOISE) / (degrees + 2));
    }

    /** Standard deviation of the logarithm of the next batch's time, with how well the mean is known. */
    double spread() {
        return noise() * Math.sqrt(1 + 1 / weight);
    }

    /** What it adds to a fit, in samples: less than 1, as the mean of few batches is uncertain. */
    double certainty() {
        double usual = LatencyFit.NOISE * LatencyFit.NOISE;
        return usual / (usual + noise() * noise() / weight);
    }

    boolean isFittedToOtherTimes() {
        double chance = 2 * noise() / Math.sqrt(weight);
        return fitted.map(then -> Math.abs(logMillis - then) > Math.max(MATERIAL, chance))
                .orElse(true);
    }

    MeasuredBin asFitted() {
        return new MeasuredBin(
                bin, batches, weight, batch, size, logMillis, squares, degrees, at, Optional.of(logMillis));
    }

    /** As hearsay after a drift: moved by as much, and no weightier than five batches. */
    MeasuredBin movedBy(double logFactor) {
        return new MeasuredBin(
                bin,
                batches,
                Math.min(HEARSAY, weight),
                batch,
                size,
                logMillis + logFactor,
                squares,
                degrees,
                at,
                fitted);
    }
}
