package io.lendstream.actuator.jobs;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** From one membership epoch of a job to the next: a group is prepared, agreed on, and taken at a step's end. */
final class EpochTransition {
    /** Why there is a new epoch; workers know them by these words in small letters. */
    enum Kind {
        /** Nobody trains yet. */
        START,
        /** Ranks come or go, between two steps. */
        CHANGE,
        /** A rank was lost: those left are waiting. */
        RECOVER
    }

    final long epoch;
    final Kind kind;
    /** Workers of the epoch before, where they have to agree. */
    final List<String> before;
    /** Workers of the new epoch, by rank. */
    final List<String> after;
    /** Whether this completes the change that was asked for last. */
    final boolean wholeChange;

    final Set<String> prepared = new LinkedHashSet<>();
    final Set<String> passed = new LinkedHashSet<>();
    boolean committed;

    // What it cost, as those who train on report it.
    final Set<String> full = new LinkedHashSet<>();
    long fullNanos;
    Optional<Double> pauseSeconds = Optional.empty();

    EpochTransition(long epoch, Kind kind, List<String> before, List<String> after, boolean wholeChange) {
        this.epoch = epoch;
        this.kind = kind;
        this.before = List.copyOf(before);
        this.after = List.copyOf(after);
        this.wholeChange = wholeChange;
    }

    boolean isPrepared() {
        return prepared.containsAll(after);
    }

    /** All that have a part in it have passed the boundary between the epochs. */
    boolean isPassed() {
        return passed.containsAll(before) && passed.containsAll(after);
    }

    boolean concerns(String worker) {
        return before.contains(worker) || after.contains(worker);
    }
}
