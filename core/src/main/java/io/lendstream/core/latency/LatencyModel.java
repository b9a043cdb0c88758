package io.lendstream.core.latency;

/** How long batches of a model take, and how sure that is. */
public final class LatencyModel {
    private final Hinge hinge;
    private final LatencyPrior prior;
    private final double noise;
    private final double[][] covariance;

    LatencyModel(Hinge hinge, LatencyPrior prior, double noise, double[][] covariance) {
        this.hinge = hinge;
        this.prior = prior;
        this.noise = noise;
        this.covariance = covariance;
    }

    /** Milliseconds that are as likely to be too few as too many. */
    public double millis(Slice slice, int batch, double size) {
        return Math.exp(hinge.logMillis(slice, batch, size) + prior.correction(slice, batch, size));
    }

    /**
     * Standard deviation of the logarithm of {@link #millis}: 0.05 is about five per cent. It has what the model is off where it
     * was measured, and how little is known elsewhere.
     */
    public double spread(Slice slice, int batch, double size) {
        double[] slopes = hinge.slopes(slice, batch, size);
        double variance = noise * noise;
        for (int i = 0; i < slopes.length; i++) {
            for (int j = 0; j < slopes.length; j++) {
                variance += slopes[i] * covariance[i][j] * slopes[j];
            }
        }
        return Math.sqrt(variance);
    }

    /** Milliseconds that are exceeded with a probability, by so many standard deviations: 1.64 for one in twenty. */
    public double millisAtMost(Slice slice, int batch, double size, double deviations) {
        return millis(slice, batch, size) * Math.exp(deviations * spread(slice, batch, size));
    }

    public Hinge hinge() {
        return hinge;
    }
}
