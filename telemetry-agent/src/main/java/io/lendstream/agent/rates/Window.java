package io.lendstream.agent.rates;

import io.lendstream.core.event.RequestRate;
import java.util.List;

/**
 * The record of a window, with remarks on how it was made.
 *
 * @param remarks words of {@link Remark}
 */
public record Window(RequestRate rate, List<Remark> remarks) {
    public Window {
        remarks = List.copyOf(remarks);
    }

    /** Remarks on a record's numbers. */
    public enum Remark {
        /**
         * Arrivals are derived from ended requests and the change of requests inside, because there is no counter of
         * arrivals.
         */
        ARRIVALS_DERIVED,
        /**
         * The server restarted within the window; requests between the last reading and the restart are not counted.
         */
        RESTARTED,
        /** Readings failed for so long that their arrivals were spread over several windows. */
        SPREAD,
        /** The 99th percentile lies above the histogram's last bound, which is given instead. */
        P99_BEYOND_HISTOGRAM,
        /** The wall clock was set within the window; its length comes from a monotonic clock. */
        CLOCK_SET,
        /** The source no longer exists: its rate is taken back, and requests after its last reading are not counted. */
        LEFT;

        /** The remark's name in the header. */
        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }
    }
}
