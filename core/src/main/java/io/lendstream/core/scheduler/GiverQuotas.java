package io.lendstream.core.scheduler;

import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.QueueLedger;
import java.util.List;
import java.util.Optional;

/**
 * What services of queues may give to others whose requests wait. Within a queue, anything. To services outside of it
 * only what the queue uses beyond its nominal quota: what it owns it may ask back at once, by a quota that counts
 * expected requests too, and two rules would take in turn.
 */
final class GiverQuotas {
    private final QuotaGuard guard;
    /** The use of quotas, which follows what is given; empty until it is needed. */
    private Optional<QueueLedger> kept = Optional.empty();

    GiverQuotas(StepBuilder builder) {
        this.guard = new QuotaGuard(builder);
    }

    private Optional<QueueId> queueOf(ServiceId service) {
        return guard.queueOf(new Tenant.Service(service));
    }

    private QueueLedger kept() {
        QueueLedger ledger = kept.orElseGet(guard::kept);
        kept = Optional.of(ledger);
        return ledger;
    }

    /** Whether a service may give units of one kind to another one. */
    boolean mayGive(ServiceId from, ServiceId to, List<GpuState> units) {
        Optional<QueueId> theirs = queueOf(from);
        return theirs.isEmpty()
                || theirs.equals(queueOf(to))
                || kept().use(theirs.get(), units.get(0).kind())
                        .filter(use -> use.excess() >= units.size())
                        .isPresent();
    }

    /** Units are given. */
    void give(ServiceId from, List<GpuState> units) {
        if (queueOf(from).isPresent()) {
            units.forEach(unit -> kept().remove(unit.gpuId()));
        }
    }

    /** Units are not given after all. */
    void takeBack(ServiceId from, List<GpuState> units) {
        queueOf(from).ifPresent(queue -> units.forEach(unit -> kept().add(unit.gpuId(), queue, unit.kind(), 1, false)));
    }
}
