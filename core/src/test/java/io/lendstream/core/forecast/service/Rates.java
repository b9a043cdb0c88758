package io.lendstream.core.forecast.service;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** One source that reports window after window, 15 s each, from midnight on. */
public final class Rates {
    public static final Instant MIDNIGHT = Instant.parse("2026-01-05T00:00:00Z");
    public static final ServiceId SERVICE = new ServiceId("chat");
    public static final DomainId DOMAIN = new DomainId("east");

    private final String source;
    private final String bootId;
    private final Duration window;
    private Instant at;
    private long sequence;

    private Rates(String source, String bootId, Duration window, Instant at) {
        this.source = source;
        this.bootId = bootId;
        this.window = window;
        this.at = at;
    }

    public static Rates of(String source) {
        return new Rates(source, "boot-1", Duration.ofSeconds(15), MIDNIGHT);
    }

    public Rates every(Duration length) {
        return new Rates(source, bootId, length, at);
    }

    public Rates from(Instant start) {
        return new Rates(source, bootId, window, start);
    }

    /** The same source after a restart. */
    public Rates rebooted(String boot) {
        return new Rates(source, boot, window, at);
    }

    /** Its clock is put right: it goes on, at an earlier time. */
    public Rates setBack(Duration by) {
        at = at.minus(by);
        return this;
    }

    public RequestRate next(long arrivals) {
        Instant start = at;
        at = at.plus(window);
        return new RequestRate(
                SERVICE,
                DOMAIN,
                source,
                bootId,
                ++sequence,
                start,
                at,
                RequestRate.Requests.answered(arrivals),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    /** Windows that are never reported. */
    public Rates skip(int windows) {
        at = at.plus(window.multipliedBy(windows));
        sequence += windows;
        return this;
    }

    /** The same requests of another service. */
    public static RequestRate of(RequestRate rate, ServiceId service, DomainId domain) {
        return new RequestRate(
                service,
                domain,
                rate.source(),
                rate.bootId(),
                rate.sequence(),
                rate.windowStart(),
                rate.windowEnd(),
                rate.requests(),
                rate.latency(),
                rate.inputSizes(),
                List.of());
    }
}
