package io.lendstream.actuator.driver;

import java.time.Duration;

/**
 * How much a driver may do at a time.
 *
 * @param concurrency orders that are carried out at once; at least 1
 * @param perSecond orders that are begun in a second; above 0. Killing is never kept waiting
 * @param timeout how long one try may take
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
