package io.lendstream.agent.rates;

import io.lendstream.core.event.RequestRate;
import java.util.List;

/**
 * A record of a window, and what there is to say of how it came to be.
 *
 * @param remarks words of {@link Remark}
 */
public record Window(RequestRate rate, List<Remark> remarks) {
    public Window {
        remarks = List.copyOf(remarks);
    }

    /** What a reader may want to know of a record's numbers. */
    public enum Remark {
        /** Nothing counts what comes in: arrivals are what left and what more is inside than before. */
        ARRIVALS_DERIVED,
        /** A server started anew within the window; what it served before that and after the last reading was lost with it. */
        RESTARTED,
        /** Readings failed for so long that their arrivals were spread over several windows. */
        SPREAD,
        /** The 99th percentile lies above the histogram's last bound, which stands for it. */
        P99_BEYOND_HISTOGRAM,
        /** This machine's clock was set in the window, whose length was taken by another clock. */
        CLOCK_SET,
        /** The source is no more: its rate is taken back, and what it served after its last reading is lost with it. */
        LEFT;

        /** As a header has it. */
        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }
    }
}
