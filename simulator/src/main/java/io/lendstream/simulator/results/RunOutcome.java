package io.lendstream.simulator.results;

import io.lendstream.core.decision.Decision;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.WorldResults;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The outcome of a run.
 *
 * @param decisions all of them, in order; the list itself, not a copy, for it may lie in a file
 * @param wallSeconds how long it took
 * @param complete whether the workload was played to its end; else the figures are up to the time when it was broken
 *     off
 * @param queueWaits how long queues waited for their nominal quota, in seconds; empty without queues
 * @param waitsByQueue the same by the name of the queue; those that never waited too
 */
public record RunOutcome(
        RunIdentity run,
        WorldResults results,
        List<Decision> decisions,
        double wallSeconds,
        boolean complete,
        Optional<Distribution> queueWaits,
        Map<String, Distribution> waitsByQueue) {
    public RunOutcome {
        decisions = Collections.unmodifiableList(decisions);
        waitsByQueue = Collections.unmodifiableMap(new TreeMap<>(waitsByQueue));
    }

    /** A run without queues. */
    public RunOutcome(
            RunIdentity run, WorldResults results, List<Decision> decisions, double wallSeconds, boolean complete) {
        this(run, results, decisions, wallSeconds, complete, Optional.empty(), Map.of());
    }

    /** A run that was played to its end. */
    public RunOutcome(RunIdentity run, WorldResults results, List<Decision> decisions, double wallSeconds) {
        this(run, results, decisions, wallSeconds, true);
    }
}
