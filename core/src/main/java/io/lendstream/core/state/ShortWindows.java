package io.lendstream.core.state;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import java.time.Duration;

/**
 * The windows of a source since its last rate, as long as they are too short for a rate together.
 *
 * @param arrivals requests offered in them
 * @param covered the sum of their lengths in whole milliseconds; gaps between them do not count
 */
public record ShortWindows(long arrivals, Duration covered) {
    static final ShortWindows NONE = new ShortWindows(0, Duration.ZERO);

    /** With a further window. */
    ShortWindows with(RequestRate rate) {
        return new ShortWindows(
                arrivals + rate.requests().arrivals(), covered.plusMillis(Limits.millis(rate.window())));
    }

    /** Requests per second of the time that they cover. */
    double arrivalsPerSecond() {
        return arrivals * 1000.0 / covered.toMillis();
    }
}
