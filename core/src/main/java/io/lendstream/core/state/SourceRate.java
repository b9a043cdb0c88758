package io.lendstream.core.state;

import io.lendstream.core.event.RequestRate;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The latest rate of a service's requests from one source.
 *
 * @param window the longest window that it reported by since its boot: it may report early, but is silent only when a
 *     whole window passes without a record. At least {@link #SHORTEST_RATE} if short windows are summed up
 * @param event the domain's event that brought it
 * @param unrated its windows since its last rate, also those before a new boot; empty unless short windows are summed
 *     up, and some wait for more
 */
public record SourceRate(
        String bootId,
        long sequence,
        Instant at,
        Duration window,
        double arrivalsPerSecond,
        int inFlight,
        int queueDepth,
        long event,
        Optional<ShortWindows> unrated) {
    /** The shortest time that gives a rate; a shorter window gives only the number of waiting requests. */
    public static final Duration SHORTEST_RATE = Duration.ofSeconds(5);

    /** Windows after a longer silence are not summed up with those before it, which are of another time. */
    private static final Duration SUMMED_WITHIN = Duration.ofMinutes(1);

    /** A replaced gateway sends no more records under its name. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);
    /** The longest wait for a source, independent of its window. */
    private static final Duration LONGEST_WINDOW = Duration.ofHours(1);

    /**
     * A source after a window. Its waiting requests and those in flight count at once.
     *
     * @param before the source before it; empty if it is new
     * @param sums whether windows that are too short for a rate are summed up to one. Else the last rate stays
     * @param event the domain's event that brings the window
     */
    public static SourceRate after(Optional<SourceRate> before, RequestRate rate, boolean sums, long event) {
        return sums
                ? summed(before.filter(known -> !known.isGone(rate.windowEnd())), rate, event)
                : of(
                        rate,
                        longest(before, rate),
                        before.filter(any -> rate.window().compareTo(SHORTEST_RATE) < 0)
                                .map(SourceRate::arrivalsPerSecond)
                                .orElseGet(rate::arrivalsPerSecond),
                        event,
                        Optional.empty());
    }

    /** Each window counts to one rate: that of the windows since the last rate, once they cover enough time. */
    private static SourceRate summed(Optional<SourceRate> before, RequestRate rate, long event) {
        ShortWindows sum = before.filter(known -> !known.at.plus(SUMMED_WITHIN).isBefore(rate.windowStart()))
                .flatMap(SourceRate::unrated)
                .orElse(ShortWindows.NONE)
                .with(rate);
        Duration window = longest(before, rate);
        boolean isEnough = sum.covered().compareTo(SHORTEST_RATE) >= 0;
        return of(
                rate,
                window.compareTo(SHORTEST_RATE) < 0 ? SHORTEST_RATE : window,
                isEnough
                        ? sum.arrivalsPerSecond()
                        : before.map(SourceRate::arrivalsPerSecond).orElseGet(rate::arrivalsPerSecond),
                event,
                isEnough ? Optional.empty() : Optional.of(sum));
    }

    private static Duration longest(Optional<SourceRate> before, RequestRate rate) {
        return before.filter(known -> known.bootId.equals(rate.bootId()))
                .map(SourceRate::window)
                .filter(known -> known.compareTo(rate.window()) > 0)
                .orElseGet(rate::window);
    }

    private static SourceRate of(
            RequestRate rate, Duration window, double arrivalsPerSecond, long event, Optional<ShortWindows> unrated) {
        return new SourceRate(
                rate.bootId(),
                rate.sequence(),
                rate.windowEnd(),
                window,
                arrivalsPerSecond,
                rate.requests().inFlight(),
                rate.requests().queueDepth(),
                event,
                unrated);
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
