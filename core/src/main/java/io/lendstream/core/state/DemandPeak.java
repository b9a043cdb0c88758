package io.lendstream.core.state;

import java.time.Instant;
import java.util.List;

/** The greatest demand of a service in the minute that began at {@code minute}, in requests per second. */
public record DemandPeak(Instant minute, double requestsPerSecond) {
    /** The greatest of the peaks of minutes that began after a time; 0 if there is none. */
    static double greatest(List<DemandPeak> peaks, Instant since) {
        double peak = 0;
        for (DemandPeak each : peaks) {
            if (each.minute().isAfter(since)) {
                peak = Math.max(peak, each.requestsPerSecond());
            }
        }
        return peak;
    }
}
