package io.lendstream.core.goodput;

/**
 * How much faster a job is on a kind of GPU than its profile says, at any number of GPUs.
 *
 * @param factor goodput there over goodput of the profile; above 0
 * @param uncertainty how far the factor may be off, as a share of it; below 1
 */
public record KindRatio(double factor, double uncertainty) {
    /** Of a kind of which nothing is known. */
    public static final KindRatio UNKNOWN = new KindRatio(1, 0.5);

    public KindRatio {
        if (!(factor > 0) || Double.isInfinite(factor)) {
            throw new IllegalArgumentException("factor must be finite and above 0, but was " + factor);
        }
        if (!(uncertainty >= 0 && uncertainty < 1)) {
            throw new IllegalArgumentException(
                    "uncertainty must be at least 0 and below 1, but was %s".formatted(uncertainty));
        }
    }

    /** The least factor that may be true. */
    public double least() {
        return factor * (1 - uncertainty);
    }
}
