package io.lendstream.core.state;

import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.Flat;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An inference service and its known demand.
 *
 * @param sources the latest rate of each source, by its name
 * @param peaks greatest demand of each of the last ten minutes or so, oldest first
 * @param forecastEvent the event that brought {@code forecast}; 0 before the first
 * @param batches the learned batch times of its servers; empty until a server reports batches
 * @param otherBatches the same on other kinds of GPU, if it runs on several; by their model
 * @param starts what is known of the starts of its replicas
 * @param feedback replicas beyond its load, because it missed its SLO; empty while it meets it
 * @param demand the total of its sources
 * @param timed its spec with measured start-up times instead of declared ones
 */
public record ServiceState(
        InferenceService spec,
        Map<String, SourceRate> sources,
        List<DemandPeak> peaks,
        Optional<DemandForecast> forecast,
        long forecastEvent,
        Optional<ServiceBatches> batches,
        List<ServiceBatches> otherBatches,
        @Flat ReplicaStarts starts,
        Optional<SloFeedback> feedback,
        @Derived Demand demand,
        @Derived InferenceService timed) {
    private static final Duration PEAK_MEMORY = Duration.ofMinutes(10);
    /** Silence after which demand is unknown; longer where windows are. */
    private static final Duration UNKNOWN_AFTER = Duration.ofSeconds(60);
    /** A source may report by windows of any length; a longer silence than this is no late report. */
    private static final Duration LONGEST_PATIENCE = Duration.ofHours(1);

    public ServiceState {
        sources = Collections.unmodifiableSortedMap(new TreeMap<>(sources));
        peaks = List.copyOf(peaks);
        otherBatches = List.copyOf(otherBatches);
    }

    /** A state whose demand is summed up from its sources. */
    public ServiceState(
            InferenceService spec,
            Map<String, SourceRate> sources,
            List<DemandPeak> peaks,
            Optional<DemandForecast> forecast,
            long forecastEvent,
            Optional<ServiceBatches> batches,
            List<ServiceBatches> otherBatches,
            ReplicaStarts starts,
            Optional<SloFeedback> feedback) {
        this(
                spec,
                sources,
                peaks,
                forecast,
                forecastEvent,
                batches,
                otherBatches,
                starts,
                feedback,
                Demand.of(sources),
                StartUps.timed(spec, starts.startUps()));
    }

    /** The state of a service whose servers report batches of one kind of GPU only, if any. */
    public ServiceState(
            InferenceService spec,
            Map<String, SourceRate> sources,
            List<DemandPeak> peaks,
            Optional<DemandForecast> forecast,
            long forecastEvent,
            Optional<ServiceBatches> batches) {
        this(spec, sources, peaks, forecast, forecastEvent, batches, List.of(), ReplicaStarts.NONE, Optional.empty());
    }

    /**
     * The total of all sources of a service; kept, because every event of the domain reads it.
     *
     * @param arrivalsPerSecond requests offered, over all sources
     * @param inFlight requests being computed, at most 2<sup>31</sup> - 1
     * @param queueDepth requests waiting for a replica, at most 2<sup>31</sup> - 1
     * @param lastRateAt when the latest rate arrived; empty before the first
     * @param window the longest that a source reports by
     * @param event the last event about it; 0 before the first
     */
    public record Demand(
            double arrivalsPerSecond,
            int inFlight,
            int queueDepth,
            Optional<Instant> lastRateAt,
            Duration window,
            long event) {
        private static final Duration USUAL_WINDOW = Duration.ofSeconds(15);

        static Demand of(Map<String, SourceRate> sources) {
            var sorted = new TreeMap<>(sources).values();
            double arrivals =
                    sorted.stream().mapToDouble(SourceRate::arrivalsPerSecond).sum();
            long inFlight = 0;
            long queued = 0;
            long event = 0;
            Instant last = Instant.MIN;
            Duration window = Duration.ZERO;
            for (SourceRate source : sorted) {
                inFlight += source.inFlight();
                queued += source.queueDepth();
                event = Math.max(event, source.event());
                last = source.at().isAfter(last) ? source.at() : last;
                window = source.window().compareTo(window) > 0 ? source.window() : window;
            }
            return sources.isEmpty()
                    ? new Demand(0, 0, 0, Optional.empty(), USUAL_WINDOW, 0)
                    : new Demand(arrivals, atMost(inFlight), atMost(queued), Optional.of(last), window, event);
        }

        /** Limited to an int: a source with a huge value makes the need greater, and never less. */
        private static int atMost(long sum) {
            return (int) Math.min(Integer.MAX_VALUE, sum);
        }
    }

    public static ServiceState of(InferenceService spec) {
        return new ServiceState(spec, Map.of(), List.of(), Optional.empty(), 0, Optional.empty());
    }

    /**
     * With a new description by its owner. Measured start-up times are dropped if it declares others, or other shapes,
     * kinds or models; so are replicas for a missed SLO if it declares another capacity. Faults of its program are
     * forgotten with any new declaration.
     */
    public ServiceState describedBy(InferenceService next) {
        boolean hasSameCapacity = next.replicaCapacityPerSecond() == spec.replicaCapacityPerSecond()
                && next.hardware().equals(spec.hardware());
        ReplicaStarts kept = starts.redeclared(spec, next);
        return new ServiceState(
                next,
                sources,
                peaks,
                forecast,
                forecastEvent,
                batches,
                otherBatches,
                kept,
                hasSameCapacity ? feedback : Optional.empty(),
                demand,
                StartUps.timed(next, kept.startUps()));
    }

    /**
     * With the start of a replica.
     *
     * @param shape the name of its shape; empty for a replica of one GPU
     * @param cached whether the service had a replica on its node before; counts only where that is declared to matter
     * @param took from the decision to the replica that was ready
     */
    public ServiceState started(Optional<String> shape, Optional<KindId> kind, boolean cached, Duration took) {
        ReplicaStarts next =
                starts.with(StartUps.with(startUps(), shape, StartUps.counted(spec, shape, kind), cached, took));
        return new ServiceState(spec, sources, peaks, forecast, forecastEvent, batches, otherBatches, next, feedback);
    }

    /** How long its replicas took to start; empty unless that is learned. */
    public List<StartUp> startUps() {
        return starts.startUps();
    }

    /** With other starts of its replicas, which took as long. */
    public ServiceState with(ReplicaStarts next) {
        return new ServiceState(
                spec, sources, peaks, forecast, forecastEvent, batches, otherBatches, next, feedback, demand, timed);
    }

    /** The longest start from nothing, on any kind and in any shape, by the times that are measured. */
    public Duration longestStart() {
        return StartUps.longest(timed);
    }

    /** What is measured of starts of a shape on a kind. */
    public StartUp startUp(Optional<String> shape, Optional<KindId> kind, boolean cached) {
        return StartUps.find(startUps(), shape, StartUps.counted(spec, shape, kind), cached);
    }

    /**
     * The sources whose rate stays as it is: they report again and again, but all windows are too short for a rate.
     * There are none where short windows are summed up.
     */
    public List<String> stuckSources() {
        return sources.entrySet().stream()
                .filter(source -> source.getValue().sequence() > 1
                        && source.getValue().window().compareTo(SourceRate.SHORTEST_RATE) < 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    public boolean hasSeen(RequestRate rate) {
        SourceRate last = sources.get(rate.source());
        return last != null && last.covers(rate);
    }

    /**
     * With a window of a source.
     *
     * @param sums whether windows that are too short for a rate are summed up to one
     */
    public ServiceState observed(RequestRate rate, boolean sums, long event) {
        Optional<SourceRate> last = Optional.ofNullable(sources.get(rate.source()));
        Map<String, SourceRate> next = new TreeMap<>(sources);
        next.values().removeIf(source -> source.isGone(rate.windowEnd()));
        next.put(rate.source(), SourceRate.after(last, rate, sums, event));
        Demand now = Demand.of(next);
        return new ServiceState(
                spec,
                next,
                peaksWith(now.arrivalsPerSecond, rate.windowEnd()),
                forecast,
                forecastEvent,
                batches.map(known -> known.heard(rate)),
                otherBatches.isEmpty()
                        ? otherBatches
                        : otherBatches.stream().map(known -> known.heard(rate)).toList(),
                starts,
                feedback,
                now,
                timed);
    }

    public ServiceState expecting(DemandForecast next, long event) {
        return new ServiceState(
                spec, sources, peaks, Optional.of(next), event, batches, otherBatches, starts, feedback, demand, timed);
    }

    /** The same with other rates of its sources. */
    public ServiceState with(Map<String, SourceRate> other) {
        return new ServiceState(spec, other, peaks, forecast, forecastEvent, batches, otherBatches, starts, feedback);
    }

    /** With other replicas beyond its load. */
    public ServiceState with(Optional<SloFeedback> next) {
        return new ServiceState(
                spec, sources, peaks, forecast, forecastEvent, batches, otherBatches, starts, next, demand, timed);
    }

    /** With newly learned batch times, which replace those of the same kind of GPU, else the first ones. */
    public ServiceState with(ServiceBatches next) {
        for (ServiceBatches other : otherBatches) {
            if (other.gpu().equals(next.gpu())) {
                return withOther(next);
            }
        }
        return batching(Optional.of(next), otherBatches);
    }

    /** The same in which two units stand for each other. */
    public ServiceState exchanging(GpuId one, GpuId other) {
        return batching(
                batches.map(known -> known.exchanging(one, other)),
                otherBatches.stream().map(known -> known.exchanging(one, other)).toList());
    }

    /** With batch times on a kind of GPU beside those of another. */
    public ServiceState withOther(ServiceBatches next) {
        List<ServiceBatches> others = new ArrayList<>(otherBatches);
        others.removeIf(other -> other.gpu().equals(next.gpu()));
        others.add(next);
        others.sort(Comparator.comparing(ServiceBatches::gpu));
        return batching(batches, others);
    }

    private ServiceState batching(Optional<ServiceBatches> first, List<ServiceBatches> others) {
        return new ServiceState(
                spec, sources, peaks, forecast, forecastEvent, first, others, starts, feedback, demand, timed);
    }

    /** The batch times on a kind of GPU, by its model. */
    public Optional<ServiceBatches> batchesOn(String gpu) {
        if (batches.isPresent() && batches.get().gpu().equals(gpu)) {
            return batches;
        }
        for (ServiceBatches other : otherBatches) {
            if (other.gpu().equals(gpu)) {
                return Optional.of(other);
            }
        }
        return Optional.empty();
    }

    /** Offered requests per second, over all sources. */
    public double arrivalsPerSecond() {
        return demand.arrivalsPerSecond;
    }

    /** Requests being computed, over all sources. */
    public int inFlight() {
        return demand.inFlight;
    }

    /** Requests waiting for a replica, over all sources. */
    public int queueDepth() {
        return demand.queueDepth;
    }

    /** When the latest rate arrived; empty before the first. */
    public Optional<Instant> lastRateAt() {
        return demand.lastRateAt;
    }

    /** The longest window that a source reports by. */
    public Duration window() {
        return demand.window;
    }

    /** The time of its latest description or request rate. */
    public Instant heardAt() {
        return lastRateAt().orElse(spec.at());
    }

    /** How long a silence is taken for a report that is late, or lost: three windows, at most one hour. */
    public Duration patience() {
        if (window().compareTo(LONGEST_PATIENCE) > 0) {
            return LONGEST_PATIENCE;
        }
        // Not Duration.multipliedBy: it reckons with big decimals, and this is asked at every event.
        Duration windows = window().plus(window()).plus(window());
        return windows.compareTo(LONGEST_PATIENCE) > 0 ? LONGEST_PATIENCE : windows;
    }

    /** The time after which its demand is unknown without new records. */
    public Instant unknownAt() {
        Duration patience = patience();
        return heardAt().plus(patience.compareTo(UNKNOWN_AFTER) > 0 ? patience : UNKNOWN_AFTER);
    }

    /** The greatest demand seen in the ten minutes before {@code now}, in requests per second. */
    public double recentPeak(Instant now) {
        return DemandPeak.greatest(peaks, now.minus(PEAK_MEMORY));
    }

    /** The same of a shorter time, and of the rest of the minute in which it begins; at most ten minutes. */
    public double recentPeak(Instant now, Duration time) {
        Duration memory = time.compareTo(PEAK_MEMORY) < 0 ? time.plusSeconds(60) : PEAK_MEMORY;
        return DemandPeak.greatest(peaks, now.minus(memory));
    }

    /** The events of the present demand. */
    public List<Long> rateEvents() {
        return sources.values().stream().map(SourceRate::event).toList();
    }

    /** The peaks of the last minutes, with the demand of a time. */
    private List<DemandPeak> peaksWith(double arrivalsPerSecond, Instant now) {
        Instant minute = now.truncatedTo(ChronoUnit.MINUTES);
        Instant since = now.minus(PEAK_MEMORY).minusSeconds(60);
        double perSecond = arrivalsPerSecond;
        List<DemandPeak> next = new ArrayList<>();
        for (DemandPeak peak : peaks) {
            if (peak.minute().equals(minute)) {
                perSecond = Math.max(perSecond, peak.requestsPerSecond());
            } else if (peak.minute().isAfter(since)) {
                next.add(peak);
            }
        }
        next.add(new DemandPeak(minute, perSecond));
        return next;
    }
}
