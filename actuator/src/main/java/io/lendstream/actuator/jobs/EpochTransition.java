package io.lendstream.actuator.jobs;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The transition of a job between two membership epochs: a group is prepared, agreed on, and used from a step's end.
 */
final class EpochTransition {
    /** The reason for a new epoch; workers know it by this name in lower case. */
    enum Kind {
        /** The group has no workers yet. */
        START,
        /** Ranks join or leave, between two steps. */
        CHANGE,
        /** A rank was lost, and the remaining ranks wait. */
        RECOVER
    }

    private final long epoch;
    private final Kind kind;
    private final List<String> before;
    private final List<String> after;
    private final boolean wholeChange;

    private final Set<String> prepared = new LinkedHashSet<>();
    private final Set<String> passed = new LinkedHashSet<>();
    private boolean committed;

    /**
     * @param before workers of the epoch before; empty if they need not agree
     * @param after workers of the new epoch, by rank
     * @param wholeChange whether this completes the last requested change
     */
    EpochTransition(long epoch, Kind kind, List<String> before, List<String> after, boolean wholeChange) {
        this.epoch = epoch;
        this.kind = kind;
        this.before = List.copyOf(before);
        this.after = List.copyOf(after);
        this.wholeChange = wholeChange;
    }

    long epoch() {
        return epoch;
    }

    Kind kind() {
        return kind;
    }

    List<String> before() {
        return before;
    }

    List<String> after() {
        return after;
    }

    /** All workers of both epochs. */
    Set<String> all() {
        Set<String> all = new LinkedHashSet<>(before);
        all.addAll(after);
        return all;
    }

    boolean concerns(String worker) {
        return before.contains(worker) || after.contains(worker);
    }

    void addPrepared(String worker) {
        prepared.add(worker);
    }

    boolean isPrepared() {
        return prepared.containsAll(after);
    }

    /**
     * Whether the workers of the epoch before can be sent the commit. Newcomers may take long to build a group, so
     * training continues meanwhile. Remaining workers need about a step for it: without newcomers the commit is sent
     * at once, so that leaving workers need not wait for a second step.
     */
    boolean mayCommit() {
        return kind == Kind.CHANGE && !committed && (isPrepared() || before.containsAll(after));
    }

    void commit() {
        committed = true;
    }

    /** Whether workers may already enter it, so that it cannot be abandoned. Only a change waits for the commit. */
    boolean isBinding() {
        return committed || kind != Kind.CHANGE;
    }

    void addPassed(String worker) {
        passed.add(worker);
    }

    List<String> passed() {
        return List.copyOf(passed);
    }

    /** Whether all workers of both epochs have passed the boundary between them. */
    boolean isPassed() {
        return passed.containsAll(before) && passed.containsAll(after);
    }

    JobFile.Pending pending() {
        return new JobFile.Pending(epoch, kind.name(), after, wholeChange);
    }
}
