package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.Flat;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The requests of a service in one window, as one source saw them. A service's demand is the sum over its sources.
 *
 * @param source who measured it: a node's agent, a gateway, a load generator
 * @param sequence 1, 2, 3, ... since the source's boot
 * @param windowStart start of the window, included
 * @param windowEnd end of the window, excluded
 * @param inputSizes histogram of the sizes of the inputs offered; empty where not measured
 * @param batches that this source's servers ran in the window; empty where not measured
 */
public record RequestRate(
        ServiceId service,
        DomainId domain,
        String source,
        String bootId,
        long sequence,
        Instant windowStart,
        Instant windowEnd,
        @Flat Requests requests,
        @Flat Latency latency,
        List<SizeCount> inputSizes,
        List<BatchTimes> batches)
        implements Event {
    public RequestRate {
        Checks.atLeast("sequence", 0, sequence);
        inputSizes = List.copyOf(inputSizes);
        batches = List.copyOf(batches);
        if (!windowEnd.isAfter(windowStart)) {
            throw new IllegalArgumentException("the window of %s must end after its start %s, but ends %s"
                    .formatted(service, windowStart, windowEnd));
        }
    }

    /** The same as a window that began at another time. */
    public RequestRate since(Instant start) {
        return new RequestRate(
                service, domain, source, bootId, sequence, start, windowEnd, requests, latency, inputSizes, batches);
    }

    /**
     * The numbers of requests.
     *
     * @param arrivals requests offered in the window, answered or not
     * @param completions requests answered in the window
     * @param inFlight requests being computed at the window's end
     * @param queueDepth requests waiting for a replica at the window's end
     */
    public record Requests(long arrivals, long completions, int inFlight, int queueDepth) {
        public Requests {
            Checks.atLeast("arrivals", 0, arrivals);
            Checks.atLeast("completions", 0, completions);
            Checks.atLeast("inFlight", 0, inFlight);
            Checks.atLeast("queueDepth", 0, queueDepth);
        }

        /** Requests that were all answered in the window in which they were offered. */
        public static Requests answered(long arrivals) {
            return new Requests(arrivals, arrivals, 0, 0);
        }
    }

    /** The median and the 99th percentile of the latency of the requests answered. */
    public record Latency(Optional<Double> p50LatencySeconds, Optional<Double> p99LatencySeconds) {
        /** Of a source that does not measure it, or a window in which no request was answered. */
        public static final Latency NOT_MEASURED = new Latency(Optional.empty(), Optional.empty());

        public Latency {
            Checks.notNegative("p50LatencySeconds", p50LatencySeconds);
            Checks.notNegative("p99LatencySeconds", p99LatencySeconds);
        }
    }

    /** The same with the batches that servers reported. */
    public RequestRate with(List<BatchTimes> times) {
        return new RequestRate(
                service,
                domain,
                source,
                bootId,
                sequence,
                windowStart,
                windowEnd,
                requests,
                latency,
                inputSizes,
                times);
    }

    @Override
    public Instant at() {
        return windowEnd;
    }

    public Duration window() {
        return Duration.between(windowStart, windowEnd);
    }

    public double arrivalsPerSecond() {
        return requests.arrivals * 1000.0 / Limits.millis(window());
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.rate(this);
    }
}
