package io.lendstream.agent.rates;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.agent.exposition.ExpositionException;
import io.lendstream.agent.exposition.Family;
import io.lendstream.agent.exposition.Format;
import io.lendstream.core.latency.BatchCounter;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads one endpoint and returns the windows that each reading ends. For one thread at a time. */
public final class RateProbe {
    private static final Logger LOG = LoggerFactory.getLogger(RateProbe.class);

    private final Endpoint endpoint;
    private final Scraper scraper;
    private final Windows windows;
    private final MeterRegistry metrics;
    private final InstantSource clock;
    private final LongSupplier nanos;
    private Optional<String> trouble = Optional.empty();

    /**
     * A probe.
     *
     * @param clock the wall clock
     * @param nanos a monotonic clock
     */
    public RateProbe(
            Endpoint endpoint,
            Scraper scraper,
            Windows windows,
            MeterRegistry metrics,
            InstantSource clock,
            LongSupplier nanos) {
        this.endpoint = endpoint;
        this.scraper = scraper;
        this.windows = windows;
        this.metrics = metrics;
        this.clock = clock;
        this.nanos = nanos;
        startAtZero();
    }

    /** Registers each counter before its first event, so that rates and alerts see that event. */
    private void startAtZero() {
        readings("read");
        readings("failed");
        if (endpoint.stats().isPresent()) {
            readings("without-batches");
        }
        windows();
        restarts();
    }

    private Counter readings(String outcome) {
        return metrics.counter(
                "lendstream.rate.readings", "endpoint", endpoint.url().toString(), "outcome", outcome);
    }

    private Counter windows() {
        return metrics.counter(
                "lendstream.rate.windows", "endpoint", endpoint.url().toString());
    }

    private Counter restarts() {
        return metrics.counter(
                "lendstream.rate.restarts", "endpoint", endpoint.url().toString());
    }

    /** Reads once. A failure is logged once and counted; the next successful reading covers the gap. */
    public List<Window> look() {
        return look(Optional.empty());
    }

    /** Starts at zero counts, for a server that started after the agent began to wait for it. */
    public void countFrom(Instant started) {
        Instant now = clock.instant();
        long since = Math.max(0, Duration.between(started, now).toNanos());
        windows.startingWith(EndpointReading.of(started, nanos.getAsLong() - since, List.of()));
    }

    /**
     * Takes back the rate of a server that no longer exists.
     *
     * @return the last windows; empty if it is too early for them
     */
    public Optional<List<Window>> farewell() {
        Optional<List<Window>> last =
                windows.farewell(EndpointReading.of(clock.instant(), nanos.getAsLong(), List.of()));
        if (last.isPresent()) { // a node has many pods in its lifetime
            List.of("lendstream.rate.readings", "lendstream.rate.windows", "lendstream.rate.restarts")
                    .forEach(name -> metrics.find(name)
                            .tag("endpoint", endpoint.url().toString())
                            .meters()
                            .forEach(metrics::remove));
        }
        return last;
    }

    /**
     * Reads once.
     *
     * @param started last start of the server by the wall clock, if known
     */
    public List<Window> look(Optional<Instant> started) {
        EndpointReading reading;
        try {
            reading = read();
        } catch (IOException | ExpositionException e) {
            readings("failed").increment();
            say(Optional.of(String.valueOf(e.getMessage())));
            return List.of();
        }
        readings("read").increment();
        say(Optional.empty());
        List<Window> ended = windows.upTo(reading, started);
        for (Window window : ended) {
            windows().increment();
            if (window.remarks().contains(Window.Remark.RESTARTED)) {
                restarts().increment();
                LOG.warn(
                        "{}: the counters of {} restarted at zero; requests between the previous reading and the restart are not counted",
                        endpoint.url(),
                        window.rate().service());
            }
        }
        return ended;
    }

    private EndpointReading read() throws IOException {
        Scraper.Answer answer = scraper.get(endpoint.url());
        Instant at = clock.instant();
        long when = nanos.getAsLong();
        List<Family> families = Format.of(answer.type())
                .map(format -> Exposition.parse(answer.text(), format))
                .orElseGet(() -> Exposition.parse(answer.text()));
        List<Point> points = families.stream()
                .flatMap(family -> family.samples().stream())
                .map(sample -> new Point(sample.name(), sample.labels(), sample.value()))
                .toList();
        EndpointReading reading = EndpointReading.of(at, when, points);
        return endpoint.stats().map(stats -> reading.with(batches(stats))).orElse(reading);
    }

    /** Without batch statistics a window is still useful. */
    private Map<String, Map<Integer, BatchCounter>> batches(URI stats) {
        try {
            return TritonStatistics.read(scraper.get(stats).text());
        } catch (IOException | UnreadableException e) {
            readings("without-batches").increment();
            LOG.debug("{}", stats, e);
            return Map.of();
        }
    }

    private void say(Optional<String> now) {
        if (!now.equals(trouble)) {
            now.ifPresentOrElse(
                    why -> LOG.warn("cannot read {}: {}", endpoint.url(), why),
                    () -> LOG.info("{} is readable again", endpoint.url()));
        }
        trouble = now;
    }
}
