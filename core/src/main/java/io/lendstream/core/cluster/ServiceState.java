package io.lendstream.core.cluster;

import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An inference service and what is known of its demand.
 *
 * @param sources the latest word of each source, by its name
 * @param peaks greatest demand of each of the last ten minutes or so, oldest first
 * @param forecastEvent the event that brought {@code forecast}; 0 before the first
 * @param batches what was learned of the batches that its servers run; empty while none tells
 */
public record ServiceState(
        InferenceService spec,
        Map<String, SourceRate> sources,
        List<DemandPeak> peaks,
        Optional<DemandForecast> forecast,
        long forecastEvent,
        Optional<ServiceBatches> batches) {
    private static final Duration PEAK_MEMORY = Duration.ofMinutes(10);
    /** A record that covers less than this says what is waiting now, but not how fast requests arrive. */
    private static final Duration SHORTEST_RATE = Duration.ofSeconds(5);

    public ServiceState {
        sources = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(sources));
        peaks = List.copyOf(peaks);
    }

    public static ServiceState of(InferenceService spec) {
        return new ServiceState(spec, Map.of(), List.of(), Optional.empty(), 0, Optional.empty());
    }

    public ServiceState describedBy(InferenceService next) {
        return new ServiceState(next, sources, peaks, forecast, forecastEvent, batches);
    }

    public boolean hasSeen(RequestRate rate) {
        SourceRate last = sources.get(rate.source());
        return last != null && last.covers(rate);
    }

    public ServiceState observed(RequestRate rate, long event) {
        SourceRate last = sources.get(rate.source());
        double perSecond = last != null && rate.window().compareTo(SHORTEST_RATE) < 0
                ? last.arrivalsPerSecond()
                : rate.arrivalsPerSecond();
        Map<String, SourceRate> next = new TreeMap<>(sources);
        Duration window = last != null
                        && last.bootId().equals(rate.bootId())
                        && last.window().compareTo(rate.window()) > 0
                ? last.window()
                : rate.window();
        next.put(rate.source(), SourceRate.of(rate, window, perSecond, event));
        ServiceState state =
                new ServiceState(spec, next, peaks, forecast, forecastEvent, batches.map(known -> known.heard(rate)));
        return state.remembering(rate.windowEnd());
    }

    public ServiceState expecting(DemandForecast next, long event) {
        return new ServiceState(spec, sources, peaks, Optional.of(next), event, batches);
    }

    /** With what is now known of its batches. */
    public ServiceState with(ServiceBatches next) {
        return new ServiceState(spec, sources, peaks, forecast, forecastEvent, Optional.of(next));
    }

    /** Offered requests per second, over all sources. */
    public double arrivalsPerSecond() {
        return sources.values().stream()
                .mapToDouble(SourceRate::arrivalsPerSecond)
                .sum();
    }

    /** Requests being computed, over all sources. */
    public int inFlight() {
        return sources.values().stream().mapToInt(SourceRate::inFlight).sum();
    }

    /** Requests waiting for a replica, over all sources. */
    public int queueDepth() {
        return sources.values().stream().mapToInt(SourceRate::queueDepth).sum();
    }

    /** When the latest word came in; empty before the first. */
    public Optional<Instant> lastRateAt() {
        return sources.values().stream().map(SourceRate::at).max(Instant::compareTo);
    }

    /** The longest window that a source reports by. */
    public Duration window() {
        return sources.values().stream()
                .map(SourceRate::window)
                .max(Duration::compareTo)
                .orElse(Duration.ofSeconds(15));
    }

    /** The greatest demand seen in the ten minutes before {@code now}, in requests per second. */
    public double recentPeak(Instant now) {
        Instant since = now.minus(PEAK_MEMORY);
        return peaks.stream()
                .filter(peak -> peak.minute().isAfter(since))
                .mapToDouble(DemandPeak::requestsPerSecond)
                .max()
                .orElse(0);
    }

    /** The events that tell of present demand. */
    public List<Long> rateEvents() {
        return sources.values().stream().map(SourceRate::event).toList();
    }

    private ServiceState remembering(Instant now) {
        Instant minute = now.truncatedTo(ChronoUnit.MINUTES);
        Instant since = now.minus(PEAK_MEMORY).minusSeconds(60);
        double demand = arrivalsPerSecond();
        List<DemandPeak> next = new ArrayList<>();
        for (DemandPeak peak : peaks) {
            if (peak.minute().equals(minute)) {
                demand = Math.max(demand, peak.requestsPerSecond());
            } else if (peak.minute().isAfter(since)) {
                next.add(peak);
            }
        }
        next.add(new DemandPeak(minute, demand));
        return new ServiceState(spec, sources, next, forecast, forecastEvent, batches);
    }
}
