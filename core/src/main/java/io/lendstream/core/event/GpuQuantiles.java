package io.lendstream.core.event;

import io.lendstream.core.id.Checks;

/**
 * The GPUs that a service needs to keep its SLO, by quantiles of its demand. It is one for each replica, or as many as
 * its shape has, and never fewer than its floor.
 *
 * <p>They are whole GPUs, also of a service that is planned onto MIG instances. A replica counts with the capacity that
 * its service declares for all kinds of GPU.
 */
public record GpuQuantiles(int p10, int p50, int p90, int p99) {
    public GpuQuantiles {
        Checks.atLeast("p10 in GPUs", 0, p10);
        if (p10 > p50 || p50 > p90 || p90 > p99) {
            throw new IllegalArgumentException("quantiles in GPUs must not cross, but were p10=%d p50=%d p90=%d p99=%d"
                    .formatted(p10, p50, p90, p99));
        }
    }
}
