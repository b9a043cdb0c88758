package io.lendstream.core.state;

import io.lendstream.core.decision.DecisionId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The last change of a job's GPUs.
 *
 * @param changing the decision that is being carried out for the job, if any
 * @param changedFrom GPUs that it trained on before that
 * @param changeDeadline until when {@code changing} has to be in force; nothing waits for it after that
 * @param awaited the actuators that have still to do their part, where several take part
 */
public record LastChange(Optional<DecisionId> changing, int changedFrom, Instant changeDeadline, List<String> awaited) {
    public LastChange {
        awaited = List.copyOf(awaited);
    }

    /** A change that the first report of success settles. */
    LastChange(Optional<DecisionId> changing, int changedFrom, Instant changeDeadline) {
        this(changing, changedFrom, changeDeadline, List.of());
    }

    LastChange settled() {
        return new LastChange(Optional.empty(), changedFrom, changeDeadline);
    }

    /** The same without an actuator that has done its part. */
    LastChange doneBy(String actuator) {
        List<String> others =
                awaited.stream().filter(name -> !name.equals(actuator)).toList();
        return new LastChange(changing, changedFrom, changeDeadline, others);
    }
}
