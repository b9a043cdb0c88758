package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.ClusterState;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Whether jobs have as many GPUs as they run on, or none. A job may be left with fewer where no decision is to blame:
 * nothing could be decided when it lost them, or its owner has asked for more since.
 */
final class Gangs {
    private final Set<JobId> broken = new HashSet<>();

    /** Jobs that hold too few GPUs, for which no decision is to blame. */
    Set<JobId> broken() {
        return broken;
    }

    /**
     * Takes in what an event led to.
     *
     * @param mayDecide whether the scheduler may make decisions at that time
     */
    void follow(ClusterState state, Event event, boolean mayDecide) {
        Set<JobId> now = new HashSet<>();
        Invariants.brokenGangs(state).map(job -> job.spec().job()).forEach(job -> {
            boolean isDescribed = event.asJob()
                    .filter(described -> described.job().equals(job))
                    .isPresent();
            if (broken.contains(job)
                    || isDescribed
                    || !mayDecide
                    || state.mode().isAdvisory()) {
                now.add(job);
            }
        });
        broken.clear();
        broken.addAll(now);
    }

    /** The fault of a decision, which must give a job a number of GPUs that it can run on, or none. */
    Optional<Violation> check(Decision decision, ClusterState state) {
        Optional<JobChange> change = decision.action().jobChange();
        return change.flatMap(changed -> state.jobs().get(changed.job()))
                .map(job -> job.spec().scaling().least())
                .flatMap(least -> {
                    int gpus = change.map(changed -> changed.allocation().gpus().size())
                            .orElse(0);
                    return gpus > 0 && gpus < least
                            ? Optional.of(Rule.GANG.violation("decision %s gives a job %s that runs on %d or more: %s"
                                    .formatted(decision.id(), Reason.counted(gpus, "GPU"), least, decision.action())))
                            : Optional.empty();
                });
    }
}
