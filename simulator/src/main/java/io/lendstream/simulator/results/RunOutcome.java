package io.lendstream.simulator.results;

import io.lendstream.core.decision.Decision;
import io.lendstream.simulator.WorldResults;
import java.util.List;

/**
 * What a run came to.
 *
 * @param decisions all of them, in order
 * @param wallSeconds how long it took
 */
public record RunOutcome(RunIdentity run, WorldResults results, List<Decision> decisions, double wallSeconds) {
    public RunOutcome {
        decisions = List.copyOf(decisions);
    }
}
