package io.lendstream.core.goodput;

/**
 * How much faster a job is on a kind of GPU than its profile says, at any number of GPUs; or how many more requests a
 * replica of a service answers there than its owner declares.
 *
 * @param factor goodput there over goodput of the profile, or requests over requests; from 0.001 to 1000
 * @param uncertainty how far the factor may be off, as a share of it; from 0 to 0.99
 */
public record KindRatio(double factor, double uncertainty) {
    /** Of a kind of which nothing is known. */
    public static final KindRatio UNKNOWN = new KindRatio(1, 0.5);

    public KindRatio {
        if (!(factor >= 0.001 && factor <= 1000)) {
            throw new IllegalArgumentException("factor must lie between 0.001 and 1000, but was " + factor);
        }
        if (!(uncertainty >= 0 && uncertainty <= 0.99)) {
            throw new IllegalArgumentException("uncertainty must lie between 0 and 0.99, but was " + uncertainty);
        }
    }

    /** The least factor that may be true. */
    public double least() {
        return factor * (1 - uncertainty);
    }
}
