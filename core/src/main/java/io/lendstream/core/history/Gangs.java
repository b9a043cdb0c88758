package io.lendstream.core.history;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.ClusterState;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Whether jobs have as many GPUs as they run on, or none. A job may be left with fewer where no decision is to blame: nothing could
 * be decided when it lost them, or its owner has asked for more since.
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
            boolean isDescribed =
                    event instanceof TrainingJob described && described.job().equals(job);
            if (broken.contains(job)
                    || isDescribed
                    || !mayDecide
                    || state.mode().advisory()) {
                now.add(job);
            }
        });
        broken.clear();
        broken.addAll(now);
    }

    /** What is wrong with a decision: it gives a job as many GPUs as the job can run on, or none. */
    Optional<Violation> check(Decision decision, ClusterState state) {
        return job(decision.action())
                .flatMap(job -> state.jobs().get(job))
                .map(job -> Invariants.least(job.spec()))
                .flatMap(least -> {
                    int gpus = allocation(decision.action())
                            .map(given -> given.gpus().size())
                            .orElse(0);
                    return gpus > 0 && gpus < least
                            ? Optional.of(new Violation(
                                    "gang",
                                    "decision %s gives a job %d GPUs that runs on %d or more: %s"
                                            .formatted(decision.id(), gpus, least, decision.action())))
                            : Optional.empty();
                });
    }

    private static Optional<JobId> job(Action action) {
        if (action instanceof Action.Lend lend) {
            return Optional.of(lend.job());
        }
        if (action instanceof Action.Reclaim reclaim) {
            return Optional.of(reclaim.job());
        }
        return action instanceof Action.Resize resize ? Optional.of(resize.job()) : Optional.empty();
    }

    private static Optional<Allocation> allocation(Action action) {
        if (action instanceof Action.Lend lend) {
            return Optional.of(lend.allocation());
        }
        if (action instanceof Action.Reclaim reclaim) {
            return Optional.of(reclaim.allocation());
        }
        return action instanceof Action.Resize resize ? Optional.of(resize.allocation()) : Optional.empty();
    }
}
