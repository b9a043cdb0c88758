package io.lendstream.core.state;

import io.lendstream.core.event.RequestRate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The replicas that a service gets beyond its load, because it missed its SLO although it had those for its load: its
 * replicas answer less than was declared or learned. Each step adds a quarter. A step is taken back after a time
 * without a miss; if that was too early, the next time is twice as long.
 *
 * @param steps steps of a quarter; 0 or more
 * @param changedAt when a step was last added or taken back
 * @param missedAt end of the last window of a row that counts; empty before the first
 * @param patience time without a miss after which a step is taken back
 * @param isTaken whether the last change took a step back
 * @param misses windows in a row in which it misses its SLO now, by source; at most 20
 */
public record SloFeedback(
        int steps,
        Instant changedAt,
        Optional<Instant> missedAt,
        Duration patience,
        boolean isTaken,
        List<SloMisses> misses) {
    private static final double STEP = 0.25;
    private static final double ROUNDING = 1e-9;
    private static final Duration FIRST_PATIENCE = Duration.ofMinutes(10);
    private static final Duration LONGEST_PATIENCE = Duration.ofDays(1);
    private static final int MOST_SOURCES = 20;

    public SloFeedback {
        misses = List.copyOf(misses);
    }

    /** Nothing yet. */
    public static SloFeedback of(Instant now) {
        return new SloFeedback(0, now, Optional.empty(), FIRST_PATIENCE, false, List.of());
    }

    /** After a window in which the service met or missed its SLO. */
    public SloFeedback measured(RequestRate rate, boolean isMissed) {
        List<SloMisses> next = SloMisses.longest(SloMisses.after(misses, rate, isMissed), MOST_SOURCES);
        return new SloFeedback(steps, changedAt, missedAt, patience, isTaken, next);
    }

    /** After a row of windows that is long enough to count. */
    public SloFeedback missed(Instant windowEnd) {
        Instant last = missedAt.filter(windowEnd::isBefore).orElse(windowEnd);
        return new SloFeedback(steps, changedAt, Optional.of(last), patience, isTaken, misses);
    }

    /**
     * With the next step that adds a replica; the same if the bound allows none. Windows count again from zero, so that
     * the next step waits for the effect of this one.
     *
     * @param needed replicas that the service needs for its load
     * @param most greatest number of replicas beyond them, as a share; one is always allowed
     */
    public SloFeedback raised(int needed, double most, Instant now) {
        int next = steps + 1;
        while (next * STEP <= most && added(needed, next) == added(needed, steps)) {
            next++;
        }
        boolean isAllowed = added(needed, next) > added(needed, steps) && (next == 1 || next * STEP <= most);
        if (!isAllowed) {
            return this;
        }
        Duration twice = patience.plus(patience);
        Duration longer = twice.compareTo(LONGEST_PATIENCE) > 0 ? LONGEST_PATIENCE : twice;
        boolean wasTooEarly = isTaken && now.isBefore(changedAt.plus(patience));
        return new SloFeedback(next, now, missedAt, wasTooEarly ? longer : patience, false, List.of());
    }

    /** With one step less, if it has met its SLO for long enough. */
    public SloFeedback rested(Instant now) {
        boolean isMet = steps > 0
                && !now.isBefore(changedAt.plus(patience))
                && missedAt.map(last -> last.plus(patience))
                        .filter(now::isBefore)
                        .isEmpty();
        return isMet ? new SloFeedback(steps - 1, now, missedAt, patience, true, misses) : this;
    }

    /**
     * Whether nothing of it matters any more.
     *
     * @param withhold for how long after a miss no GPU is lent that the service left
     */
    public boolean isOver(Duration withhold, Instant now) {
        return steps == 0 && misses.isEmpty() && !missedWithin(withhold.plus(patience), now);
    }

    /** Whether the last window of a row that counts ended less than this time ago. */
    public boolean missedWithin(Duration time, Instant now) {
        return missedAt.map(last -> last.plus(time)).filter(now::isBefore).isPresent();
    }

    /** Replicas to add to those that a load needs. */
    public int added(int needed) {
        return added(needed, steps);
    }

    private static int added(int needed, int steps) {
        return (int) Math.min(Integer.MAX_VALUE - (long) needed, (long) Math.ceil(needed * STEP * steps - ROUNDING));
    }
}
