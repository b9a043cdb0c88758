package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Demand expected over the step that ends {@code horizon} after the forecast was issued, in requests per second.
 *
 * <p>{@code p99} is the level that demand stays under in 99 of 100 cases, if the forecast keeps its promise.
 *
 * @param gpus the same in GPUs; empty if the capacity of a replica of the service is not declared
 * @param recent how the forecasts at this horizon held lately; empty before there were any
 * @param roles the same in replicas of each role, if the service declares shapes
 */
public record HorizonQuantiles(
        Duration horizon,
        double p10,
        double p50,
        double p90,
        double p99,
        Optional<GpuQuantiles> gpus,
        Optional<RecentCoverage> recent,
        List<RoleQuantiles> roles) {
    public HorizonQuantiles {
        roles = List.copyOf(roles);
        Checks.notNegative("p10", p10);
        Checks.notNegative("p50", p50);
        Checks.notNegative("p90", p90);
        Checks.notNegative("p99", p99);
        if (p10 > p50 || p50 > p90 || p90 > p99) {
            throw new IllegalArgumentException(
                    "quantiles must not cross, but were p10=%s p50=%s p90=%s p99=%s".formatted(p10, p50, p90, p99));
        }
    }

    /** Demand that is given in requests per second, and in GPUs at most. */
    public HorizonQuantiles(
            Duration horizon,
            double p10,
            double p50,
            double p90,
            double p99,
            Optional<GpuQuantiles> gpus,
            Optional<RecentCoverage> recent) {
        this(horizon, p10, p50, p90, p99, gpus, recent, List.of());
    }

    /** Demand alone. */
    public HorizonQuantiles(Duration horizon, double p10, double p50, double p90, double p99) {
        this(horizon, p10, p50, p90, p99, Optional.empty(), Optional.empty());
    }

    /** The same, and what it comes to in GPUs. */
    public HorizonQuantiles in(GpuQuantiles needed) {
        return in(needed, List.of());
    }

    /** The same, and what it comes to in GPUs and in replicas of each role. */
    public HorizonQuantiles in(GpuQuantiles needed, List<RoleQuantiles> replicas) {
        return new HorizonQuantiles(horizon, p10, p50, p90, p99, Optional.of(needed), recent, replicas);
    }
}
