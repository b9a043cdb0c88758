package io.lendstream.scheduler;

import io.lendstream.core.state.ClusterState;
import java.time.Duration;

/**
 * When the state of a domain is written as a snapshot: after so many events of its log, and after so much of its time.
 * This depends on the log alone, so that every instance writes the same snapshots, and a restart changes none.
 *
 * @param events a snapshot follows each event whose sequence is a multiple of it
 * @param period a snapshot follows the first event at or after each multiple of it since 1970
 */
record SnapshotPace(int events, Duration period) {
    SnapshotPace {
        if (events < 1) {
            throw new IllegalArgumentException("scheduler.snapshot-events must be at least 1, but is " + events);
        }
        if (period.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("scheduler.snapshot-every must be at least 1s, but is " + period);
        }
    }

    /** Whether a snapshot of the state after a step is due. */
    boolean isDue(ClusterState before, ClusterState after) {
        return before.eventSequence() > 0 && (after.eventSequence() % events == 0 || number(after) > number(before));
    }

    private long number(ClusterState state) {
        return Math.floorDiv(state.now().toEpochMilli(), period.toMillis());
    }
}
