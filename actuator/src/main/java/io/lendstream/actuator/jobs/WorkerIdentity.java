package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/**
 * Identifies a worker of a job, before and after its processes run.
 *
 * @param token secret that the worker sends in its first message
 * @param cause the change that gave the job these slots
 */
record WorkerIdentity(String name, String token, List<Slot> slots, DecisionId cause) {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int NAME_BYTES = 6;
    private static final int TOKEN_BYTES = 16;

    WorkerIdentity {
        slots = List.copyOf(slots);
    }

    /** The identity of a new worker: its name is unique, and its token cannot be guessed. */
    static WorkerIdentity create(JobId job, List<Slot> slots, DecisionId cause) {
        return new WorkerIdentity(
                "%s-%s".formatted(JobHome.label(job), random(NAME_BYTES)), random(TOKEN_BYTES), slots, cause);
    }

    static WorkerIdentity of(JobFile.WorkerEntry entry) {
        List<Slot> slots = entry.slots().stream()
                .map(slot -> new Slot(new GpuId(slot.gpu()), slot.device()))
                .toList();
        return new WorkerIdentity(entry.name(), entry.token(), slots, DecisionId.parse(entry.cause()));
    }

    JobFile.WorkerEntry entry() {
        return new JobFile.WorkerEntry(
                name,
                token,
                cause.toString(),
                slots.stream()
                        .map(slot -> new JobFile.WorkerSlot(slot.gpu().value(), slot.device()))
                        .toList());
    }

    private static String random(int bytes) {
        byte[] value = new byte[bytes];
        RANDOM.nextBytes(value);
        return HexFormat.of().formatHex(value);
    }

    /** The name alone, because logs must not contain the token. */
    @Override
    public String toString() {
        return name;
    }
}
