package io.lendstream.core.latency;

import java.util.List;

/**
 * A hinge as it was fitted, to be kept.
 *
 * @param noise standard deviation of logarithms from it where it was measured
 * @param covariance of its parameters, row by row
 */
public record FittedHinge(Hinge hinge, double noise, List<Double> covariance) {
    public FittedHinge {
        covariance = List.copyOf(covariance);
        if (covariance.size() != Hinge.PARAMETERS * Hinge.PARAMETERS) {
            throw new IllegalArgumentException("a hinge of %d parameters must have %d covariances, but has %d"
                    .formatted(Hinge.PARAMETERS, Hinge.PARAMETERS * Hinge.PARAMETERS, covariance.size()));
        }
    }
}
