package io.lendstream.simulator.replay;

import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The times at which jobs with hard deadlines arrive. A plan of the same time comes before them: their total work is
 * reported just after them, and a plan between the two would not know whether they can end in time.
 */
final class DeadlineArrivals {
    private final Deque<Instant> times = new ArrayDeque<>();

    DeadlineArrivals(Workload workload) {
        for (TrainingTask task : workload.tasks()) {
            if (task.job().hardDeadline().isPresent()) {
                times.add(task.job().submittedAt());
            }
        }
    }

    /** Whether one arrives at a time; earlier times are forgotten. */
    boolean areAt(Instant now) {
        while (!times.isEmpty() && times.element().isBefore(now)) {
            times.remove();
        }
        return !times.isEmpty() && times.element().equals(now);
    }
}
