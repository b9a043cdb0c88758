package io.lendstream.core.forecast;

import io.lendstream.core.event.RequestRate;

/** One source of a service's request rates: how far it has reported, and which of its records were seen. */
final class Contributor {
    /** This many windows without a word, and nobody waits for it any more. */
    private static final int PATIENCE_WINDOWS = 3;

    private static final int REMEMBERED = Long.SIZE;

    private String bootId;
    private long lastSequence;
    /** Bit n: the record n before the last one was seen. */
    private long seen;

    private long reportedTo;
    private long windowMillis;

    private Contributor(String bootId, long lastSequence, long seen, long reportedTo, long windowMillis) {
        this.bootId = bootId;
        this.lastSequence = lastSequence;
        this.seen = seen;
        this.reportedTo = reportedTo;
        this.windowMillis = windowMillis;
    }

    static Contributor startingWith(RequestRate rate) {
        return new Contributor(
                rate.bootId(),
                rate.sequence(),
                1,
                rate.windowEnd().toEpochMilli(),
                rate.window().toMillis());
    }

    /** Takes note of a record; false if it was seen before, or is so old that nobody can tell. */
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
        } else {
            long behind = lastSequence - rate.sequence();
            if (behind >= REMEMBERED || (seen >>> behind & 1) == 1) {
                return false;
            }
            seen |= 1L << behind;
        }
        if (end > reportedTo) {
            reportedTo = end;
            windowMillis = rate.window().toMillis();
        }
        return true;
    }

    /** End of its latest window. */
    long reportedTo() {
        return reportedTo;
    }

    /** When it counts as silent unless it reports again. */
    long silentAfter() {
        return reportedTo + PATIENCE_WINDOWS * windowMillis;
    }

    long windowMillis() {
        return windowMillis;
    }

    void save(StateWriter out) {
        out.text(bootId).number(lastSequence).number(seen).number(reportedTo).number(windowMillis);
    }

    static Contributor load(StateReader in) {
        return new Contributor(in.text(), in.wholeNumber(), in.wholeNumber(), in.wholeNumber(), in.wholeNumber());
    }
}
