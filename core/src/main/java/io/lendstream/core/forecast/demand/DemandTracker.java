package io.lendstream.core.forecast.demand;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Adds up the reports of several sources of one service into steps of demand. A step closes as soon as all sources that
 * still report have reported beyond its end; later reports for it are late. A window across the edge of a step counts
 * to both sides in proportion.
 *
 * <p>Clocks of sources differ. A source is silent if the service's clock has moved far since its last report; the times
 * in its reports do not count. So a source whose clock is ahead makes no other source silent. Steps do not wait for a
 * source that is far behind most others.
 */
public final class DemandTracker {
    /** The outcome of a record. */
    public enum Intake {
        COUNTED,
        /** Seen before. */
        DUPLICATE,
        /** Its steps, or some of them, were closed already. */
        LATE
    }

    private static final Duration LONGEST_WINDOW = Duration.ofHours(1);
    private static final double MOST_ARRIVALS_PER_SECOND = 1e8;
    /** After this time without a report the steps between are not counted. */
    static final Duration LONGEST_GAP = Duration.ofDays(7);

    private static final long NONE = Long.MIN_VALUE;

    private final long stepMillis;
    private final Map<String, Contributor> contributors = new TreeMap<>();
    private final TreeMap<Long, OpenStep> open = new TreeMap<>();
    /** The step that is closed next. */
    private long next = NONE;
    /** The latest reported time. */
    private long clock = NONE;

    private boolean anyDemand;

    public DemandTracker(Duration step) {
        stepMillis = step.toMillis();
    }

    /** Throws if no source could have measured this. */
    public static void check(RequestRate rate) {
        if (rate.window().compareTo(LONGEST_WINDOW) > 0) {
            throw new IllegalArgumentException("window of %s is %s, but must be at most %s"
                    .formatted(rate.service(), rate.window(), LONGEST_WINDOW));
        }
        if (rate.arrivalsPerSecond() > MOST_ARRIVALS_PER_SECOND) {
            throw new IllegalArgumentException("arrivals of %s are %.0f per second, but must be at most %.0f"
                    .formatted(rate.service(), rate.arrivalsPerSecond(), MOST_ARRIVALS_PER_SECOND));
        }
    }

    public Intake add(RequestRate rate) {
        check(rate);
        long start = rate.windowStart().toEpochMilli();
        long end = rate.windowEnd().toEpochMilli();
        if (next == NONE) {
            next = Math.floorDiv(start, stepMillis);
        }
        Contributor source = contributors.get(rate.source());
        if (source == null) {
            source = Contributor.startingWith(rate);
            contributors.put(rate.source(), source);
        } else if (!source.isNew(rate)) {
            return Intake.DUPLICATE;
        }
        clock = Math.max(clock, end);
        source.heard(clock);
        if (open.isEmpty() && (Math.floorDiv(start, stepMillis) - next) * stepMillis > LONGEST_GAP.toMillis()) {
            next = Math.floorDiv(start, stepMillis);
        }
        long first = Math.floorDiv(start, stepMillis);
        long last = Math.floorDiv(end - 1, stepMillis);
        for (long step = Math.max(first, next); step <= last; step++) {
            long from = Math.max(start, step * stepMillis);
            long to = Math.min(end, (step + 1) * stepMillis);
            long arrivals = share(rate, to - start) - share(rate, from - start);
            open.computeIfAbsent(step, any -> new OpenStep()).add(rate.source(), arrivals, to - from);
        }
        return first < next ? Intake.LATE : Intake.COUNTED;
    }

    /**
     * The arrivals of the first so many milliseconds of a window, rounded down, so that the parts add up to the whole.
     */
    private static long share(RequestRate rate, long millis) {
        return Math.multiplyExact(rate.requests().arrivals(), millis) / Limits.millis(rate.window());
    }

    /** Event time has reached this time, from any source. */
    public void advanceTo(long millis) {
        clock = Math.max(clock, millis);
    }

    /** Closes what can be closed now, in order. Numbers are consecutive but for gaps so long that a model forgets. */
    public List<ClosedStep> close() {
        List<ClosedStep> closed = new ArrayList<>();
        while (nextIsComplete()) {
            OpenStep step = open.remove(next);
            OptionalDouble demand = step == null ? OptionalDouble.empty() : step.arrivalsPerSecond();
            anyDemand |= demand.isPresent();
            if (anyDemand) {
                closed.add(new ClosedStep(next, demand));
            }
            next++;
            skipLongGap();
        }
        long edge = next * stepMillis;
        contributors.values().removeIf(source -> source.silentAfter() < clock && source.reportedTo() <= edge);
        return closed;
    }

    /**
     * Whether a step is left to close and all sources that are not silent have reported beyond the end of the next one.
     */
    private boolean nextIsComplete() {
        long end = (next + 1) * stepMillis;
        if (open.isEmpty() || clock < end) {
            return false;
        }
        long most = reportedByMost();
        for (Contributor source : contributors.values()) {
            if (source.reportedTo() < end && source.silentAfter() >= clock && !source.isFarBehind(most)) {
                return false;
            }
        }
        return true;
    }

    /** Until when at least half of those who are not silent have reported. */
    private long reportedByMost() {
        long[] ends = contributors.values().stream()
                .filter(source -> source.silentAfter() >= clock)
                .mapToLong(Contributor::reportedTo)
                .sorted()
                .toArray();
        return ends.length == 0 ? NONE : ends[(ends.length - 1) / 2];
    }

    private void skipLongGap() {
        if (!open.isEmpty() && (open.firstKey() - next) * stepMillis > LONGEST_GAP.toMillis()) {
            next = open.firstKey();
        }
    }

    /**
     * The open step, as far as it is reported.
     *
     * @param number of the step
     * @param reportedTo the time up to which all sources have reported
     * @param windowMillis length of the longest reported window
     * @param coveredMillis time of the step that the source with the fewest gaps covered
     */
    public record Part(long number, long reportedTo, long windowMillis, long arrivals, long coveredMillis) {}

    /** What there is of the next step; empty while a source owes a window, since the sum would be too small. */
    public Optional<Part> part() {
        OpenStep step = open.get(next);
        if (step == null) {
            return Optional.empty();
        }
        long reportedTo = clock;
        long window = 0;
        for (Contributor source : contributors.values()) {
            if (source.silentAfter() >= clock) {
                if (source.reportedTo() + source.windowMillis() <= clock) {
                    return Optional.empty();
                }
                reportedTo = Math.min(reportedTo, source.reportedTo());
                window = Math.max(window, source.windowMillis());
            }
        }
        return Optional.of(new Part(next, reportedTo, window, step.arrivals, step.covered()));
    }

    /**
     * The latest time at which the next step must close, even if sources are silent; empty if there is none to close.
     */
    public OptionalLong closesBy() {
        if (open.isEmpty()) {
            return OptionalLong.empty();
        }
        long end = (next + 1) * stepMillis;
        long by = end;
        for (Contributor source : contributors.values()) {
            if (source.reportedTo() < end) {
                by = Math.max(by, source.silentAfter() + 1);
            }
        }
        return OptionalLong.of(by);
    }

    /** End of the last closed step. */
    public long closedTo() {
        return next * stepMillis;
    }

    public void save(StateWriter out) {
        out.number(next).number(clock).integer(anyDemand ? 1 : 0).count(contributors.size());
        contributors.forEach((source, contributor) -> contributor.save(out.text(source)));
        out.count(open.size());
        open.forEach((number, step) -> step.save(out.number(number)));
    }

    public void load(StateReader in) {
        next = in.wholeNumber();
        clock = in.wholeNumber();
        anyDemand = in.integer() == 1;
        for (int left = in.count(Long.BYTES); left > 0; left--) {
            contributors.put(in.text(), Contributor.load(in));
        }
        for (int left = in.count(Long.BYTES); left > 0; left--) {
            open.put(in.wholeNumber(), new OpenStep().load(in));
        }
    }

    /** A step to which may still be added. */
    private final class OpenStep {
        private final Map<String, Long> coveredMillis = new TreeMap<>();
        private long arrivals;

        void add(String source, long count, long millis) {
            arrivals += count;
            coveredMillis.merge(source, millis, Long::sum);
        }

        long covered() {
            long most = 0;
            for (long millis : coveredMillis.values()) {
                most = Math.max(most, millis);
            }
            return most;
        }

        /**
         * Arrivals over the time that the source with the fewest gaps covered; empty if that is less than half of the
         * step, unless it is the first step of all, where a rough number is better than none.
         */
        OptionalDouble arrivalsPerSecond() {
            long covered = covered();
            if (covered == 0 || (anyDemand && covered * 2 < stepMillis)) {
                return OptionalDouble.empty();
            }
            return OptionalDouble.of(arrivals * 1000.0 / Math.min(covered, stepMillis));
        }

        /** The covered time of each contributor, in their order; every source that reported is still a contributor. */
        void save(StateWriter out) {
            out.number(arrivals);
            contributors.keySet().forEach(source -> out.number(coveredMillis.getOrDefault(source, 0L)));
        }

        OpenStep load(StateReader in) {
            arrivals = in.wholeNumber();
            return in.isBefore(5) ? loadNamed(in) : loadInOrder(in);
        }

        private OpenStep loadInOrder(StateReader in) {
            for (String source : contributors.keySet()) {
                long millis = in.wholeNumber();
                if (millis > 0) {
                    coveredMillis.put(source, millis);
                }
            }
            return this;
        }

        /** Before format 5 sources were named again with every step. */
        private OpenStep loadNamed(StateReader in) {
            for (int left = in.count(Long.BYTES); left > 0; left--) {
                coveredMillis.put(in.text(), in.wholeNumber());
            }
            return this;
        }
    }
}
