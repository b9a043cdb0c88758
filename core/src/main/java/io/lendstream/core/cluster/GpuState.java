package io.lendstream.core.cluster;

import java.time.Instant;

/**
 * A GPU, or a MIG instance, that can be given to somebody.
 *
 * @param failedBinds how often in a row it could not be bound
 * @param since when its owner last changed
 * @param changedBy the event by which it did
 */
public record GpuState(
        GpuId gpuId, NodeId nodeId, Pool pool, Owner owner, int failedBinds, Instant since, long changedBy) {
    public boolean isFree() {
        return owner instanceof Owner.Free;
    }

    public boolean isHeldBy(Tenant tenant) {
        return owner.holder().filter(tenant::equals).isPresent();
    }

    public GpuState with(Owner next, Instant at, long event) {
        return new GpuState(gpuId, nodeId, pool, next, failedBinds, at, event);
    }

    public GpuState withFailedBinds(int failures) {
        return new GpuState(gpuId, nodeId, pool, owner, failures, since, changedBy);
    }

    public Lease lease(DomainId domain, long epoch) {
        return new Lease(gpuId, nodeId, domain, pool, owner, epoch, changedBy, since);
    }
}
