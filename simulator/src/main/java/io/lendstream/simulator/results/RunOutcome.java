package io.lendstream.simulator.results;

import io.lendstream.core.decision.Decision;
import io.lendstream.simulator.WorldResults;
import java.util.Collections;
import java.util.List;

/**
 * The outcome of a run.
 *
 * @param decisions all of them, in order; the list itself, not a copy, for it may lie in a file
 * @param wallSeconds how long it took
 * @param complete whether the workload was played to its end; else the figures are up to the time when it was broken
 *     off
 */
public record RunOutcome(
        RunIdentity run, WorldResults results, List<Decision> decisions, double wallSeconds, boolean complete) {
    public RunOutcome {
        decisions = Collections.unmodifiableList(decisions);
    }

    /** A run that was played to its end. */
    public RunOutcome(RunIdentity run, WorldResults results, List<Decision> decisions, double wallSeconds) {
        this(run, results, decisions, wallSeconds, true);
    }
}
