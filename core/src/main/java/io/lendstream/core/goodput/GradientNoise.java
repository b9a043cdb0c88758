package io.lendstream.core.goodput;

/**
 * Gradient statistics at the initial batch size; their quotient is the gradient noise scale.
 *
 * @param squared squared norm of the mean gradient
 * @param variance variance of the gradient
 */
public record GradientNoise(double squared, double variance) {
    /** Without noise: a larger batch teaches no more than the initial one. */
    public static final GradientNoise NONE = new GradientNoise(1, 0);

    public GradientNoise {
        if (!(squared >= 0) || !(variance >= 0) || Double.isInfinite(squared) || Double.isInfinite(variance)) {
            throw new IllegalArgumentException(
                    "gradient statistics must be finite and at least 0, but were squared=%s variance=%s"
                            .formatted(squared, variance));
        }
    }
}
