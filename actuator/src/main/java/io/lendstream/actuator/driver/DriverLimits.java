package io.lendstream.actuator.driver;

import java.time.Duration;

/**
 * Limits of a driver's concurrency and rate.
 *
 * @param concurrency orders that are executed at the same time; at least 1
 * @param perSecond orders that are started per second; above 0. Kills never wait
 * @param timeout time limit of one attempt
 */
public record DriverLimits(int concurrency, double perSecond, Duration timeout) {
    public DriverLimits {
        if (concurrency < 1 || !(perSecond > 0) || timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException(
                    "concurrency must be at least 1, the rate and the timeout above 0, but are "
                            + "%d, %s and %s".formatted(concurrency, perSecond, timeout));
        }
    }
}
