package io.lendstream.core.decision;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * An order of the scheduler, with its reason.
 *
 * @param at the time of the event that led to it
 * @param deadline until when it has to be in force
 * @param advisory whether it is only advice, which actuators refuse to carry out
 */
public record Decision(DecisionId id, Instant at, Instant deadline, boolean advisory, Reason reason, Action action) {
    /** The word that counts and tables use for the return of the GPUs of an ended job. */
    public static final String RELEASE = "release";

    /** All words that {@link #countedAs} may return. */
    public static final List<String> ALL_COUNTED_AS =
            Stream.concat(Stream.of(RELEASE), Action.KINDS.stream()).toList();

    /** The same decision under another number. */
    public Decision numbered(DecisionId other) {
        return new Decision(other, at, deadline, advisory, reason, action);
    }

    /** Whether a job has ended and its GPUs come back; the action is a reclaim, or a resize to no GPU. */
    public boolean isRelease() {
        return reason.is(ReasonCode.OVER);
    }

    /** Whether lent GPUs are taken back from a job that has not ended. */
    public boolean isReclaim() {
        return action.asReclaim().isPresent() && !isRelease();
    }

    /** The word for counts and tables: {@link #RELEASE} if a job has ended, else the kind of the action. */
    public String countedAs() {
        return isRelease() ? RELEASE : action.kind();
    }
}
