package io.lendstream.core.state;

import io.lendstream.core.id.NodeId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A program that a node could not run. Its tenant is not started there for a while, which gets longer with each failure
 * in a row.
 *
 * @param failures how often in a row it could not be run; those of one wait count once
 * @param until the end of the present wait, or of the last one
 * @param waits whether its tenant is not started there now
 * @param why the cause, with the way out, as its actuator reported it
 */
public record ProgramFault(NodeId node, int failures, Instant until, boolean waits, String why) {
    private static final Duration FIRST_WAIT = Duration.ofSeconds(30);
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);
    /** After so many doublings the wait is the longest one. */
    private static final int MOST_DOUBLINGS = 5;

    private static final int LONGEST_CAUSE = 500;

    public ProgramFault {
        why = why.length() > LONGEST_CAUSE ? why.substring(0, LONGEST_CAUSE) + "..." : why;
    }

    /** The fault after one more failure. While a start waits, failures are of starts that were made before. */
    public static ProgramFault after(Optional<ProgramFault> before, NodeId node, String why, Instant now) {
        if (before.filter(ProgramFault::waits).isPresent()) {
            return new ProgramFault(node, before.get().failures, before.get().until, true, why);
        }
        int failures = before.map(ProgramFault::failures).orElse(0) + 1;
        Duration wait = FIRST_WAIT.multipliedBy(1L << Math.min(MOST_DOUBLINGS, failures - 1));
        return new ProgramFault(
                node, failures, now.plus(wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT), true, why);
    }

    /** The same after its wait. */
    public ProgramFault triedAgain() {
        return new ProgramFault(node, failures, until, false, why);
    }
}
