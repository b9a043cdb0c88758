package io.lendstream.core.event;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What one source saw of a service's requests in one window. A service's demand is the sum over its sources.
 *
 * @param source who measured it: a node's agent, a gateway, a load generator
 * @param sequence 1, 2, 3, ... since the source's boot
 * @param arrivals requests offered in the window, answered or not
 * @param completions requests answered in the window
 * @param inFlight requests being computed at the window's end
 * @param queueDepth requests waiting for a replica at the window's end
 */
public record RequestRate(
        ServiceId service,
        DomainId domain,
        String source,
        String bootId,
        long sequence,
        Instant windowStart,
        Instant windowEnd,
        long arrivals,
        long completions,
        int inFlight,
        int queueDepth,
        Optional<Double> p50LatencySeconds,
        Optional<Double> p99LatencySeconds,
        List<SizeCount> inputSizes)
        implements Event {
    public RequestRate {
        Checks.atLeast("sequence", 0, sequence);
        Checks.atLeast("arrivals", 0, arrivals);
        Checks.atLeast("completions", 0, completions);
        Checks.atLeast("inFlight", 0, inFlight);
        Checks.atLeast("queueDepth", 0, queueDepth);
        Checks.notNegative("p50LatencySeconds", p50LatencySeconds);
        Checks.notNegative("p99LatencySeconds", p99LatencySeconds);
        inputSizes = List.copyOf(inputSizes);
        if (!windowEnd.isAfter(windowStart)) {
            throw new IllegalArgumentException("the window of %s must end after its start %s, but ends %s"
                    .formatted(service, windowStart, windowEnd));
        }
    }

    @Override
    public Instant at() {
        return windowEnd;
    }

    public Duration window() {
        return Duration.between(windowStart, windowEnd);
    }

    public double arrivalsPerSecond() {
        return arrivals * 1000.0 / window().toMillis();
    }
}
