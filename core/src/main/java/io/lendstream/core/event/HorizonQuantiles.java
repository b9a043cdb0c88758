package io.lendstream.core.event;

import java.time.Duration;

/**
 * Demand expected over the step that ends {@code horizon} after the forecast was issued, in requests per second.
 *
 * <p>{@code p99} is the level that demand stays under in 99 of 100 cases, if the forecast keeps its promise.
 */
public record HorizonQuantiles(Duration horizon, double p10, double p50, double p90, double p99) {
    public HorizonQuantiles {
        Checks.notNegative("p10", p10);
        Checks.notNegative("p50", p50);
        Checks.notNegative("p90", p90);
        Checks.notNegative("p99", p99);
        if (p10 > p50 || p50 > p90 || p90 > p99) {
            throw new IllegalArgumentException(
                    "quantiles must not cross, but were p10=%s p50=%s p90=%s p99=%s".formatted(p10, p50, p90, p99));
        }
    }
}
