package io.lendstream.core.state;

import io.lendstream.core.decision.DecisionId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The last change of a job's GPUs.
 *
 * @param changing the decision that is being carried out for the job, if any
 * @param changedFrom GPUs that it trained on before that; of a job that could not be taken over those that it runs on
 * @param changeDeadline until when {@code changing} has to be in force; nothing waits for it after that
 * @param awaited the actuators that have still to do their part, where several take part
 * @param fault the failed start of its program, if it has not been in force or declared since
 */
public record LastChange(
        Optional<DecisionId> changing,
        int changedFrom,
        Instant changeDeadline,
        List<String> awaited,
        Optional<ProgramFault> fault) {
    public LastChange {
        awaited = List.copyOf(awaited);
    }

    /** The change of a job that has had none. */
    static LastChange none(Instant submittedAt) {
        return new LastChange(Optional.empty(), 0, submittedAt, List.of(), Optional.empty());
    }

    /** A next change, which the first report of success settles. */
    LastChange next(DecisionId decision, int gpus, Instant deadline) {
        return new LastChange(
                Optional.of(decision), changing.isPresent() ? changedFrom : gpus, deadline, List.of(), fault);
    }

    /** The same where some actuators together carry it out. */
    LastChange awaiting(List<String> actuators) {
        return new LastChange(changing, changedFrom, changeDeadline, actuators, fault);
    }

    LastChange settled() {
        return new LastChange(Optional.empty(), changedFrom, changeDeadline, List.of(), fault);
    }

    /** The same for a job that could not be taken over, and runs on so many GPUs after all. */
    LastChange undone(int gpus) {
        return new LastChange(Optional.empty(), gpus, changeDeadline, List.of(), fault);
    }

    LastChange with(Optional<ProgramFault> next) {
        return new LastChange(changing, changedFrom, changeDeadline, awaited, next);
    }

    /** The same without an actuator that has done its part. */
    LastChange doneBy(String actuator) {
        List<String> others =
                awaited.stream().filter(name -> !name.equals(actuator)).toList();
        return awaiting(others);
    }
}
