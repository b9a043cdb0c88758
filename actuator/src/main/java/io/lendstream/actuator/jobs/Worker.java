package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.id.GpuId;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** A worker of a job: its processes, its connection, and its deadline. */
final class Worker {
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final WorkerIdentity identity;
    private final WorkerProcess process;
    private Optional<WorkerServer.Connection> connection = Optional.empty();
    private boolean wasForced;
    private long deadlineNanos = NO_DEADLINE;

    Worker(WorkerIdentity identity, WorkerProcess process) {
        this.identity = identity;
        this.process = process;
    }

    WorkerIdentity identity() {
        return identity;
    }

    String name() {
        return identity.name();
    }

    List<Slot> slots() {
        return identity.slots();
    }

    boolean isIn(GpuId gpu) {
        return slots().stream().anyMatch(slot -> slot.gpu().equals(gpu));
    }

    boolean isInAnyOf(Collection<GpuId> gpus) {
        return slots().stream().anyMatch(slot -> gpus.contains(slot.gpu()));
    }

    void connect(WorkerServer.Connection next) {
        connection = Optional.of(next);
    }

    /** Forgets a closed connection; the worker may have opened another one already. */
    void disconnect(WorkerServer.Connection closed) {
        connection = connection.filter(each -> !each.equals(closed));
    }

    /** Sends a message if the worker is connected. */
    void send(ObjectNode message) {
        connection.ifPresent(each -> each.send(message, new byte[0]));
    }

    /** Kills the worker at a time of {@link System#nanoTime}, if it still runs. */
    void setDeadline(long nanos) {
        deadlineNanos = nanos;
    }

    void clearDeadline() {
        deadlineNanos = NO_DEADLINE;
    }

    boolean isOverdue(long nowNanos) {
        return deadlineNanos != NO_DEADLINE && nowNanos - deadlineNanos >= 0;
    }

    /** Sends SIGTERM to the program. */
    void terminate() {
        process.terminate();
    }

    /** Kills a worker that does no work, so its slots count as released in order. */
    void kill() {
        process.kill();
    }

    /** Kills a worker that may be training, so its slots count as forced. */
    void force() {
        wasForced = true;
        process.kill();
    }

    boolean wasForced() {
        return wasForced;
    }

    /** Whether no process of the worker is left. */
    boolean isGone() {
        return process.isGone();
    }

    WorkerExit exit() {
        return new WorkerExit(process.exitCode(), process.lastLines());
    }

    @Override
    public String toString() {
        return name();
    }
}
