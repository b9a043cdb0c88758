package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.policy.Alternative;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is kept of a decision when the log that explains it is gone. A decision may have two records: one with the
 * decision, and a later one with alternatives that take long to weigh.
 *
 * @param decision the decision with its reason and numbers; empty in a later record
 * @param alternatives the best few that the policy weighed, the chosen one among them
 * @param inputs events that led to it, as far as they were still known
 */
public record KeptReason(
        DecisionId id, Optional<Decision> decision, List<Alternative> alternatives, List<KeptInput> inputs) {
    public KeptReason {
        alternatives = List.copyOf(alternatives);
        inputs = List.copyOf(inputs);
    }

    /** Together with a later record on the same decision. */
    public KeptReason and(KeptReason later) {
        List<Alternative> all = new ArrayList<>(alternatives);
        later.alternatives.stream().filter(each -> !all.contains(each)).forEach(all::add);
        return new KeptReason(id, decision.or(later::decision), all, inputs.isEmpty() ? later.inputs : inputs);
    }
}
