package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The ledger of queues in a step. It goes on from the one that the last step left, if there is one, and is built from
 * all GPUs only if it is needed and there is none.
 */
final class StepLedger {
    private final boolean isOn;
    /** That of the last step; empty once it cannot be gone on from. */
    private Optional<ClusterEntities> before;

    private Optional<QueueLedger> ledger = Optional.empty();
    /** The units that the step has changed, or counts for tenants that do not have them yet. */
    private final Set<GpuId> touched = new HashSet<>();

    /** @param before the entities before the step */
    StepLedger(ClusterEntities before) {
        this.isOn = !before.queues().isEmpty();
        this.before = Optional.of(before);
    }

    /** @param now the entities as far as the step has changed them */
    QueueLedger get(ClusterEntities now) {
        if (ledger.isEmpty()) {
            Optional<QueueLedger> known = before.flatMap(ClusterEntities::keptLedger);
            known.ifPresent(last -> touched.forEach(unit -> follow(last, now, unit)));
            ledger = Optional.of(known.orElseGet(() -> QueueLedger.of(now)));
        }
        return ledger.get();
    }

    private static void follow(QueueLedger ledger, ClusterEntities now, GpuId unit) {
        now.gpus().get(unit).ifPresentOrElse(known -> ledger.put(now, known), () -> ledger.remove(unit));
    }

    /** Follows a unit that is new or has changed. */
    void put(ClusterEntities now, GpuState unit) {
        if (isOn) {
            touched.add(unit.gpuId());
        }
        ledger.ifPresent(known -> known.put(now, unit));
    }

    void remove(GpuId unit) {
        if (isOn) {
            touched.add(unit);
        }
        ledger.ifPresent(known -> known.remove(unit));
    }

    /** Counts a unit for a queue before its tenant has it; in this step only. */
    void promise(ClusterEntities now, GpuState unit, QueueId queue) {
        touched.add(unit.gpuId());
        get(now).add(unit.gpuId(), queue, unit.kind(), QueueLedger.gpus(now, unit), false);
    }

    void put(Optional<QueueState> known, QueueState queue) {
        if (known.filter(was -> was.spec().equals(queue.spec())).isEmpty()) {
            restart();
        }
    }

    void put(Optional<JobState> known, JobState job) {
        if (isOn
                && !known.map(was -> was.spec().queue())
                        .orElse(Optional.empty())
                        .equals(job.spec().queue())) {
            restart();
        }
    }

    void put(Optional<ServiceState> known, ServiceState service) {
        if (isOn
                && !known.map(was -> was.spec().queue())
                        .orElse(Optional.empty())
                        .equals(service.spec().queue())) {
            restart();
        }
    }

    /** A queue, job or service has left, or has another queue: the ledger of the last step counts otherwise. */
    void restart() {
        before = Optional.empty();
    }

    /** The entities after the step with their ledger, if it was kept or made. */
    ClusterEntities kept(ClusterEntities after) {
        if (before.isEmpty() || after.queues().isEmpty()) {
            return after;
        }
        if (ledger.isEmpty() && touched.isEmpty()) {
            return after.keepingThatOf(before.get());
        }
        if (ledger.isEmpty() && !before.get().keepsLedger()) {
            return after;
        }
        ledger.ifPresent(known -> touched.forEach(unit -> follow(known, after, unit)));
        return after.keeping(get(after));
    }
}
