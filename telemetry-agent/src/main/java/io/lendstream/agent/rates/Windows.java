package io.lendstream.agent.rates;

import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.latency.BatchCounter;
import io.lendstream.core.latency.Slice;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Converts readings of one endpoint to windows. The first reading only sets the baseline. A failed reading lengthens
 * the next window, so no arrival is lost.
 */
public final class Windows {
    /** Shorter windows give the scheduler no useful rate. */
    public static final Duration SHORTEST = Duration.ofSeconds(5);
    /** After a gap this long, counters are re-baselined. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofHours(1);
    /**
     * The largest drift between the wall clock and the monotonic clock within a window; beyond it the wall clock was
     * set.
     */
    private static final Duration DRIFT = Duration.ofSeconds(1);
    /** Means of batches do not depend on the GPU model; the core needs one for comparisons. */
    private static final Slice ANY_SLICE = new Slice(1, 1);

    private final Preset preset;
    private final ServiceNames names;
    private final DomainId domain;
    private final String source;
    private final String boot;
    private final Duration longest;
    private final ServedOn on;
    private final Map<ServiceId, Long> sequences = new TreeMap<>();
    /** Surplus of derived arrivals, subtracted from the next windows. */
    private final Map<ServiceId, Double> advances = new TreeMap<>();

    private Optional<EndpointReading> last = Optional.empty();

    /**
     * Creates the windows of one endpoint.
     *
     * @param source source name in records
     * @param longest a longer time between two readings is split into several windows
     * @param on what the server runs on
     */
    public Windows(
            Preset preset,
            ServiceNames names,
            DomainId domain,
            String source,
            String boot,
            Duration longest,
            ServedOn on) {
        this.preset = preset;
        this.names = names;
        this.domain = domain;
        this.source = source;
        this.boot = boot;
        this.longest = longest;
        this.on = on;
    }

    /**
     * Starts counting at the start of the server, when all counts were zero.
     *
     * @param start a reading with zero counts
     */
    void startingWith(EndpointReading start) {
        last = Optional.of(start.beforeAnything());
    }

    /** The windows that a reading ends, one a service; empty if the last reading is less than {@link #SHORTEST} ago. */
    public List<Window> upTo(EndpointReading now) {
        return upTo(now, Optional.empty());
    }

    /**
     * The windows of a reading if the server's start is known: counters from before a restart are discarded, even if
     * the new ones exceed them.
     *
     * @param started by the wall clock; empty if unknown
     */
    List<Window> upTo(EndpointReading now, Optional<Instant> started) {
        Optional<EndpointReading> before = last;
        if (before.isPresent() && now.since(before.get()).compareTo(SHORTEST) < 0) {
            return List.of();
        }
        last = Optional.of(now);
        if (before.isEmpty() || now.since(before.get()).compareTo(FORGOTTEN_AFTER) > 0) {
            advances.clear();
            return List.of();
        }
        boolean isAnother = started.filter(before.get().at()::isBefore).isPresent();
        return between(isAnother ? before.get().beforeAnything() : before.get(), now, isAnother);
    }

    /**
     * The final windows, without requests, by which a source that no longer exists takes back its rates.
     *
     * @param now a reading with zero counts
     * @return empty if it is too early for a window
     */
    Optional<List<Window>> farewell(EndpointReading now) {
        if (last.isEmpty() || now.since(last.get()).compareTo(FORGOTTEN_AFTER) > 0) {
            return Optional.of(List.of());
        }
        EndpointReading before = last.get();
        if (now.since(before).compareTo(SHORTEST) < 0) {
            return Optional.empty();
        }
        last = Optional.empty();
        var windows = new ArrayList<Window>();
        for (ServiceId service : List.copyOf(sequences.keySet())) {
            windows.addAll(spread(before, now, Numbers.nothing(service), new TreeSet<>(List.of(Window.Remark.LEFT))));
        }
        return Optional.of(windows);
    }

    private List<Window> between(EndpointReading before, EndpointReading now, boolean isAnother) {
        var change = new Change(before, now, preset, names);
        Growth growth = growth(change, before, now);
        var windows = new ArrayList<Window>();
        for (ServiceId service : growth.services()) {
            var remarks = new TreeSet<Window.Remark>();
            if (growth.counted.isEmpty()) {
                remarks.add(Window.Remark.ARRIVALS_DERIVED);
            }
            if (isAnother || change.restarted().contains(service)) {
                remarks.add(Window.Remark.RESTARTED);
            }
            Optional<Histogram> latency =
                    Optional.ofNullable(growth.latencies.get(service)).filter(Histogram::hasQuantiles);
            if (latency.map(of -> of.quantile(.99).beyond()).orElse(false)) {
                remarks.add(Window.Remark.P99_BEYOND_HISTOGRAM);
            }
            windows.addAll(spread(before, now, numbers(service, change, growth, latency), remarks));
        }
        return windows;
    }

    /** The increase of all counters by service; {@code counted} is empty without a counter of arrivals. */
    private record Growth(
            Optional<SortedMap<ServiceId, Double>> counted,
            SortedMap<ServiceId, Double> finished,
            SortedMap<ServiceId, Double> completions,
            SortedMap<ServiceId, Double> inside,
            SortedMap<ServiceId, Histogram> latencies,
            SortedMap<ServiceId, Histogram> sizes,
            Map<ServiceId, List<BatchTimes>> batches) {

        SortedSet<ServiceId> services() {
            var services = new TreeSet<ServiceId>(completions.keySet());
            services.addAll(finished.keySet());
            services.addAll(inside.keySet());
            counted.ifPresent(arrivals -> services.addAll(arrivals.keySet()));
            return services;
        }
    }

    private Growth growth(Change change, EndpointReading before, EndpointReading now) {
        SortedMap<ServiceId, Double> inside = change.rise(preset.inFlight());
        change.rise(preset.queue()).forEach((service, rise) -> inside.merge(service, rise, Double::sum));
        return new Growth(
                change.growth(preset.arrivals()),
                change.growth(preset.finished()).orElse(new TreeMap<>()),
                change.growth(preset.completions()).orElse(new TreeMap<>()),
                inside,
                change.histograms(preset.latency()),
                change.histograms(preset.sizes()),
                batches(before, now));
    }

    private Numbers numbers(ServiceId service, Change change, Growth growth, Optional<Histogram> latency) {
        double difference = growth.finished.getOrDefault(service, 0.0) + growth.inside.getOrDefault(service, 0.0);
        return new Numbers(
                service,
                new RequestRate.Requests(
                        growth.counted
                                .map(arrivals -> whole(arrivals.getOrDefault(service, 0.0)))
                                .orElseGet(() -> derived(service, difference)),
                        whole(growth.completions.getOrDefault(service, 0.0)),
                        level(change, preset.inFlight(), service),
                        level(change, preset.queue(), service)),
                new RequestRate.Latency(
                        quantile(change, latency, service, .5), quantile(change, latency, service, .99)),
                Optional.ofNullable(growth.sizes.get(service))
                        .map(Histogram::sizes)
                        .orElse(List.of()),
                growth.batches.getOrDefault(service, List.of()));
    }

    /** The data of one service between two readings. */
    private record Numbers(
            ServiceId service,
            RequestRate.Requests requests,
            RequestRate.Latency latency,
            List<SizeCount> sizes,
            List<BatchTimes> batches) {

        static Numbers nothing(ServiceId service) {
            return new Numbers(
                    service, RequestRate.Requests.answered(0), RequestRate.Latency.NOT_MEASURED, List.of(), List.of());
        }
    }

    /**
     * Arrivals derived without a counter. Servers read their gauges and counters at different moments, so the result
     * may be negative; later windows compensate for that.
     */
    private long derived(ServiceId service, double difference) {
        double exact = difference - advances.getOrDefault(service, 0.0);
        double arrivals = Math.max(0, Math.rint(exact));
        advances.put(service, arrivals - exact);
        return (long) arrivals;
    }

    private Optional<Double> quantile(Change change, Optional<Histogram> latency, ServiceId service, double share) {
        return latency.map(of -> of.quantile(share).value())
                .or(() -> Optional.ofNullable(
                        change.quantile(preset.quantiles(), share).get(service)))
                .map(value -> value * preset.latencySeconds())
                .filter(seconds -> seconds >= 0);
    }

    /**
     * One window, or several of equal length that share arrivals and completions; values of the end are in the last
     * one.
     */
    private List<Window> spread(
            EndpointReading before, EndpointReading now, Numbers numbers, SortedSet<Window.Remark> remarks) {
        Duration length = now.since(before);
        Instant start = before.at();
        if (Duration.between(start.plus(length), now.at()).abs().compareTo(DRIFT) > 0) {
            start = now.at().minus(length);
            remarks.add(Window.Remark.CLOCK_SET);
        }
        long millis = Duration.between(start, now.at()).toMillis();
        long parts = Math.max(1, (millis + longest.toMillis() - 1) / longest.toMillis());
        if (parts > 1) {
            remarks.add(Window.Remark.SPREAD);
        }
        var windows = new ArrayList<Window>();
        for (long part = 0; part < parts; part++) {
            boolean ends = part == parts - 1;
            windows.add(new Window(
                    new RequestRate(
                            numbers.service,
                            domain,
                            source,
                            boot,
                            sequences.merge(numbers.service, 1L, Long::sum),
                            start.plusMillis(millis * part / parts),
                            ends ? now.at() : start.plusMillis(millis * (part + 1) / parts),
                            share(numbers.requests, part, parts),
                            ends ? numbers.latency : RequestRate.Latency.NOT_MEASURED,
                            ends ? numbers.sizes : List.of(),
                            ends ? numbers.batches : List.of()),
                    List.copyOf(remarks)));
        }
        return windows;
    }

    private static RequestRate.Requests share(RequestRate.Requests all, long part, long parts) {
        boolean ends = part == parts - 1;
        return new RequestRate.Requests(
                share(all.arrivals(), part, parts),
                share(all.completions(), part, parts),
                ends ? all.inFlight() : 0,
                ends ? all.queueDepth() : 0);
    }

    private static long share(long all, long part, long parts) {
        return all * (part + 1) / parts - all * part / parts;
    }

    private Map<ServiceId, List<BatchTimes>> batches(EndpointReading before, EndpointReading now) {
        var batches = new TreeMap<ServiceId, List<BatchTimes>>();
        now.batches().forEach((model, counters) -> {
            Map<Integer, BatchCounter> old = before.batches().get(model);
            if (old != null) {
                names.called(model)
                        .ifPresent(service -> BatchCounter.served(ANY_SLICE, 1, old, counters).stream()
                                .map(ran -> new BatchTimes(
                                        on.profile(), ran.batch(), 0, ran.count(), ran.meanMillis(), on.kind()))
                                .forEach(times -> batches.computeIfAbsent(service, any -> new ArrayList<>())
                                        .add(times)));
            }
        });
        return batches;
    }

    private static int level(Change change, Measure gauge, ServiceId service) {
        return (int) Math.min(Integer.MAX_VALUE, whole(change.level(gauge).getOrDefault(service, 0.0)));
    }

    private static long whole(double number) {
        return Math.max(0, Math.round(number));
    }
}
