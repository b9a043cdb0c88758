package io.lendstream.schemas.snapshot;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.state.ApplicationTraits;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import java.util.Arrays;
import java.util.Optional;

/** The kinds of entries of a snapshot, with their numbers in the encoding. */
enum SnapshotEntry {
    HEADER(0, SnapshotHeader.class),
    NODE(1, NodeState.class),
    GPU(2, GpuState.class),
    SERVICE(3, ServiceState.class),
    JOB(4, JobState.class),
    QUEUE(5, QueueState.class),
    ACTUATOR(6, ActuatorDescription.class),
    APPLICATION(7, ApplicationTraits.class);

    private final int number;
    private final Class<?> type;

    SnapshotEntry(int number, Class<?> type) {
        this.number = number;
        this.type = type;
    }

    static Optional<SnapshotEntry> of(int number) {
        return Arrays.stream(values()).filter(kind -> kind.number == number).findFirst();
    }

    int number() {
        return number;
    }

    Class<?> type() {
        return type;
    }
}
