package io.lendstream.core.history;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.state.ClusterState;
import java.util.Arrays;
import java.util.Optional;

/** The log goes on without gaps, an event has one content, and each scheduler takes over in an epoch of its own. */
final class LogRule {
    private final Violations violations;
    private int[] fingerprints = new int[1024];
    private boolean brokenOff;
    /** The last event that was not seen, because the check began after it. */
    private long start;

    LogRule(Violations violations) {
        this.violations = violations;
    }

    /** Begins after an event. */
    void startAfter(long sequence) {
        start = sequence;
    }

    /** Whether the log cannot be followed any further. */
    boolean isBrokenOff() {
        return brokenOff;
    }

    /** At-least-once delivery may write an event again; the same event twice is no harm, two different ones are. */
    boolean isRepeated(DomainEvent event, ClusterState state) {
        if (event.sequence() > state.eventSequence()) {
            return false;
        }
        if (event.sequence() > start && fingerprints[(int) event.sequence()] != event.hashCode()) {
            violations.add(Rule.LOG, "event %d was written twice, with different contents".formatted(event.sequence()));
        }
        return true;
    }

    /** Takes a scheduler's start, which {@code state} comes before. */
    void started(SchedulerStarted started, ClusterState state) {
        if (started.epoch() <= state.epoch()) {
            violations.add(
                    Rule.EPOCH,
                    "a scheduler took over in epoch %d, but epoch %d had been before"
                            .formatted(started.epoch(), state.epoch()));
        }
    }

    /** Whether an event is the next one, where a scheduler has started; if not, the log breaks off here. */
    boolean goesOn(DomainEvent event, ClusterState state, boolean anyStarted) {
        if (!anyStarted) {
            return breakOff("event %d comes before any scheduler started".formatted(event.sequence()));
        }
        if (event.sequence() != state.eventSequence() + 1) {
            return breakOff("event %d follows event %d".formatted(event.sequence(), state.eventSequence()));
        }
        Optional<String> unknown = event.event().asDomainSettings().flatMap(DeclarableSettings::problem);
        if (unknown.isPresent()) {
            return breakOff("this version cannot follow event %d: %s".formatted(event.sequence(), unknown.get()));
        }
        return true;
    }

    void remember(DomainEvent event) {
        int at = (int) event.sequence();
        if (at >= fingerprints.length) {
            fingerprints = Arrays.copyOf(fingerprints, 2 * at);
        }
        fingerprints[at] = event.hashCode();
    }

    private boolean breakOff(String text) {
        violations.add(Rule.LOG, text);
        brokenOff = true;
        return false;
    }
}
