package io.lendstream.core.forecast.demand;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/** One source of a service's request rates: how far it has reported, and which of its records were seen. */
final class Contributor {
    /** The number of windows without a report after which steps no longer wait for a source. */
    private static final int PATIENCE_WINDOWS = 3;

    private static final int REMEMBERED = Long.SIZE;

    private String bootId;
    private long lastSequence;
    /** Bit n: the record n before the last one was seen. */
    private long seen;

    private long reportedTo;
    private long windowMillis;
    /** The service's clock at the last report of the source; the source's own clock may be ahead or behind. */
    private long heardAt;

    private Contributor(String bootId, long lastSequence, long seen, long reportedTo, long windowMillis, long heardAt) {
        this.bootId = bootId;
        this.lastSequence = lastSequence;
        this.seen = seen;
        this.reportedTo = reportedTo;
        this.windowMillis = windowMillis;
        this.heardAt = heardAt;
    }

    static Contributor startingWith(RequestRate rate) {
        return new Contributor(
                rate.bootId(),
                rate.sequence(),
                1,
                rate.windowEnd().toEpochMilli(),
                Limits.millis(rate.window()),
                rate.windowEnd().toEpochMilli());
    }

    /**
     * Takes a record; false if it is a duplicate, too old to tell, or reports a time that was reported before, as after
     * a clock was set back.
     */
    boolean isNew(RequestRate rate) {
        long end = rate.windowEnd().toEpochMilli();
        if (!rate.bootId().equals(bootId)) {
            if (end <= reportedTo) {
                return false;
            }
            bootId = rate.bootId();
            lastSequence = rate.sequence();
            seen = 1;
        } else if (rate.sequence() > lastSequence) {
            long ahead = rate.sequence() - lastSequence;
            seen = ahead >= REMEMBERED ? 1 : seen << ahead | 1;
            lastSequence = rate.sequence();
            if (end <= reportedTo) {
                return false;
            }
        } else {
            long behind = lastSequence - rate.sequence();
            if (behind >= REMEMBERED || (seen >>> behind & 1) == 1) {
                return false;
            }
            seen |= 1L << behind;
        }
        if (end > reportedTo) {
            reportedTo = end;
            windowMillis = Limits.millis(rate.window());
        }
        return true;
    }

    /** A record of it came, by the service's clock. */
    void heard(long clock) {
        heardAt = clock;
    }

    /** End of its latest window. */
    long reportedTo() {
        return reportedTo;
    }

    /** When, by the service's clock, it counts as silent unless it reports again. */
    long silentAfter() {
        return heardAt + PATIENCE_WINDOWS * windowMillis;
    }

    /** Whether it reports of times that are too long past for others to wait. */
    boolean isFarBehind(long others) {
        return reportedTo + PATIENCE_WINDOWS * windowMillis < others;
    }

    long windowMillis() {
        return windowMillis;
    }

    void save(StateWriter out) {
        out.text(bootId).number(lastSequence).number(seen).number(reportedTo).number(windowMillis);
        out.number(heardAt);
    }

    /** Before format 4, the time of a source's last report was the end of its window. */
    static Contributor load(StateReader in) {
        String bootId = in.text();
        long lastSequence = in.wholeNumber();
        long seen = in.wholeNumber();
        long reportedTo = in.wholeNumber();
        long windowMillis = in.wholeNumber();
        return new Contributor(
                bootId, lastSequence, seen, reportedTo, windowMillis, in.isBefore(4) ? reportedTo : in.wholeNumber());
    }
}
