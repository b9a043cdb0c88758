package io.lendstream.core.state;

import io.lendstream.core.event.RequestRate;
import java.time.Duration;
import java.time.Instant;

/**
 * The latest rate of a service's requests from one source.
 *
 * @param window the longest window that it reported by since its boot: it may report early, but is silent only when a
 *     whole window passes without a record
 * @param event the domain's event that brought it
 */
public record SourceRate(
        String bootId,
        long sequence,
        Instant at,
        Duration window,
        double arrivalsPerSecond,
        int inFlight,
        int queueDepth,
        long event) {
    /** A replaced gateway sends no more records under its name. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);
    /** The longest wait for a source, independent of its window. */
    private static final Duration LONGEST_WINDOW = Duration.ofHours(1);

    public static SourceRate of(RequestRate rate, Duration longestWindow, double arrivalsPerSecond, long event) {
        return new SourceRate(
                rate.bootId(),
                rate.sequence(),
                rate.windowEnd(),
                longestWindow,
                arrivalsPerSecond,
                rate.requests().inFlight(),
                rate.requests().queueDepth(),
                event);
    }

    /** Whether it has been silent for so long that others must have its requests, while they speak at {@code now}. */
    public boolean isGone(Instant now) {
        Duration awaited = window.compareTo(LONGEST_WINDOW) > 0 ? LONGEST_WINDOW : window;
        return at.plus(FORGOTTEN_AFTER).plus(awaited).isBefore(now);
    }

    /** Whether a record of the same source is no news: delivered again, or overtaken. */
    public boolean covers(RequestRate rate) {
        return bootId.equals(rate.bootId())
                ? rate.sequence() <= sequence
                : rate.windowEnd().isBefore(at);
    }
}
