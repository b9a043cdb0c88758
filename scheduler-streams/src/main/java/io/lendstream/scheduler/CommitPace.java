package io.lendstream.scheduler;

/**
 * When what was decided is committed. A commit takes some milliseconds in which nothing else happens, so that one for each of many
 * decisions would hold up those that follow. What demand waits for is committed at once, unless there has just been a commit;
 * everything else waits until a few have come together.
 */
final class CommitPace {
    private static final long URGENT_MILLIS = 5;
    private static final long USUAL_MILLIS = 25;

    private long last = Long.MIN_VALUE / 2;

    /**
     * How long a decision has to wait for its commit.
     *
     * @param now of the wall clock, milliseconds, as all times here; it may be set back
     * @param isUrgent whether demand waits for it
     * @return milliseconds; 0 where it is due
     */
    long wait(long now, boolean isUrgent) {
        long apart = isUrgent ? URGENT_MILLIS : USUAL_MILLIS;
        return Math.max(0, Math.min(apart, last + apart - now));
    }

    /** A commit was asked for. */
    void committed(long now) {
        last = now;
    }
}
