package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.DecisionId;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A worker of a job: its processes, its connection, and where it stands. */
final class Worker {
    /** Where an elastic worker stands, as far as the node process knows. */
    enum Phase {
        /** It was started, or runs on from an earlier node process, and has not been heard of. */
        STARTING,
        /** It could join. */
        READY,
        /** It has a seat in the group. */
        TRAINING,
        /** It has lost its group. */
        BROKEN,
        /** It has finished its last step, and waits to be let go. */
        LEAVING
    }

    final String name;
    final String token;
    final List<Slot> slots;
    /** The change that gave the job these slots. */
    final DecisionId cause;

    final WorkerProcess process;
    Optional<WorkerServer.Connection> connection = Optional.empty();
    Phase phase = Phase.STARTING;
    long step = -1;
    /** The last epoch into which it has passed, when it last said hello. */
    long passed;
    /** Whether it had a group then; one that has passed may still be waiting for it to be built. */
    boolean hasSeat;
    /** Epochs whose group it has built and not taken, when it last said hello. */
    final Set<Long> prepared = new HashSet<>();

    int failedBuilds;
    boolean hasFinished;
    /** It was killed though it trained. */
    boolean wasForced;
    /** When it is killed if it still runs; far away for most. */
    long deadlineNanos = Long.MAX_VALUE;

    Worker(String name, String token, List<Slot> slots, DecisionId cause, WorkerProcess process) {
        this.name = name;
        this.token = token;
        this.slots = List.copyOf(slots);
        this.cause = cause;
        this.process = process;
    }

    void send(ObjectNode message) {
        connection.ifPresent(each -> each.send(message, new byte[0]));
    }

    @Override
    public String toString() {
        return name;
    }
}
