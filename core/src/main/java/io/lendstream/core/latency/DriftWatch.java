package io.lendstream.core.latency;

/**
 * Detects whether batches on slices of one size have become slower or faster. It uses Page and Hinkley's test on the
 * logarithms of their time over the known time of their bin. It sums the excess over 3 %, restarts when a sum falls
 * below 0, and gives an alarm at 0.4.
 *
 * <p>By noise of a standard deviation s the sum comes to 0.4 about once in exp(2 * 0.03 * 0.4 / s^2) batches: for 3 %
 * that is 4e11. Noisier bins count in proportion less. A slowdown of 10 % is noticed after 6 or 7 batches, of 5 % after
 * about 20; one of less than 3 % is not noticed, but learned as bins forget.
 *
 * @param slower sum for slower batches
 * @param slowerBatches in that sum
 * @param faster sum for faster ones
 * @param fasterBatches in that sum
 * @param confirmed batches since the model was new, or since the last drift, that were no slower than planned for
 * @see <a href="https://doi.org/10.1093/biomet/41.1-2.100">Page, Continuous inspection schemes, Biometrika 1954</a>
 */
public record DriftWatch(
        Slice slice, double slower, double slowerBatches, double faster, double fasterBatches, long confirmed) {
    private static final double TOLERATED = .03;
    private static final double ALARM = .4;

    static DriftWatch of(Slice slice) {
        return new DriftWatch(slice, 0, 0, 0, 0, 0);
    }

    /** With batches that were off by a logarithm, in a bin of such noise. */
    DriftWatch with(double off, double noise, double batches) {
        double scaled = off * LatencyFit.NOISE / Math.max(LatencyFit.NOISE, noise);
        double up = Math.max(0, slower + batches * (scaled - TOLERATED));
        double down = Math.max(0, faster + batches * (-scaled - TOLERATED));
        return new DriftWatch(
                slice,
                up,
                up > 0 ? slowerBatches + batches : 0,
                down,
                down > 0 ? fasterBatches + batches : 0,
                confirmed);
    }

    DriftWatch confirmedBy(long batches) {
        return new DriftWatch(slice, slower, slowerBatches, faster, fasterBatches, confirmed + batches);
    }

    DriftWatch unconfirmed() {
        return new DriftWatch(slice, slower, slowerBatches, faster, fasterBatches, 0);
    }

    /** By how much times have drifted, as a logarithm; 0 without an alarm. */
    double drift() {
        if (slower > ALARM) {
            return slower / slowerBatches + TOLERATED;
        }
        return faster > ALARM ? -(faster / fasterBatches + TOLERATED) : 0;
    }
}
