package io.lendstream.core.state;

import io.lendstream.core.decision.DecisionId;
import java.time.Instant;
import java.util.Optional;

/**
 * The last change of a job's GPUs.
 *
 * @param changing the decision that is being carried out for the job, if any
 * @param changedFrom GPUs that it trained on before that
 * @param changeDeadline until when {@code changing} has to be in force; nothing waits for it after that
 */
public record LastChange(Optional<DecisionId> changing, int changedFrom, Instant changeDeadline) {
    LastChange settled() {
        return new LastChange(Optional.empty(), changedFrom, changeDeadline);
    }
}
