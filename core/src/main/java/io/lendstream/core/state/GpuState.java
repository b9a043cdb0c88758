package io.lendstream.core.state;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Optional;

/**
 * A unit that can be assigned: a whole GPU, or a MIG instance.
 *
 * @param instance the MIG instance; empty for a whole GPU
 * @param failedBinds how often in a row it could not be bound
 * @param warmHits how often in a row its replica was needed again while protected
 * @param lastXid the XID error last reported for it; an old one that is still reported is no news
 * @param boundBy the actuator that last reported it bound: only it can know that no tenant runs there
 * @param since when its owner last changed
 * @param changedBy the event by which it did
 */
public record GpuState(
        GpuId gpuId,
        NodeId nodeId,
        Pool pool,
        Optional<MigInstance> instance,
        Owner owner,
        int failedBinds,
        int warmHits,
        Optional<Integer> lastXid,
        Optional<String> boundBy,
        Instant since,
        long changedBy) {
    /** A whole GPU without an owner. */
    public static GpuState free(GpuId gpuId, NodeId nodeId, Pool pool, Instant since, long event) {
        return free(gpuId, nodeId, pool, Optional.empty(), since, event);
    }

    /** A unit without an owner. */
    public static GpuState free(
            GpuId gpuId, NodeId nodeId, Pool pool, Optional<MigInstance> instance, Instant since, long event) {
        return new GpuState(
                gpuId,
                nodeId,
                pool,
                instance,
                new Owner.Free(),
                0,
                0,
                Optional.empty(),
                Optional.empty(),
                since,
                event);
    }

    /** Whether it is a GPU, and not a part of one. Only such units work together on a job. */
    public boolean isWhole() {
        return instance.isEmpty();
    }

    public boolean isFree() {
        return owner.isFree();
    }

    /** Whether a job has it, takes it or leaves it. */
    public boolean isTraining() {
        return owner.isHeldByJob();
    }

    public boolean isHeldBy(Tenant tenant) {
        return owner.holder().filter(tenant::equals).isPresent();
    }

    public GpuState with(Owner next, Instant at, long event) {
        return new GpuState(gpuId, nodeId, pool, instance, next, failedBinds, warmHits, lastXid, boundBy, at, event);
    }

    public GpuState with(MigInstance described) {
        return new GpuState(
                gpuId,
                nodeId,
                pool,
                Optional.of(described),
                owner,
                failedBinds,
                warmHits,
                lastXid,
                boundBy,
                since,
                changedBy);
    }

    public GpuState withFailedBinds(int failures) {
        return new GpuState(
                gpuId, nodeId, pool, instance, owner, failures, warmHits, lastXid, boundBy, since, changedBy);
    }

    public GpuState boundBy(String actuator) {
        return new GpuState(
                gpuId, nodeId, pool, instance, owner, 0, warmHits, lastXid, Optional.of(actuator), since, changedBy);
    }

    public GpuState withWarmHits(int hits) {
        return new GpuState(
                gpuId, nodeId, pool, instance, owner, failedBinds, hits, lastXid, boundBy, since, changedBy);
    }

    public GpuState withXid(int xid) {
        return new GpuState(
                gpuId,
                nodeId,
                pool,
                instance,
                owner,
                failedBinds,
                warmHits,
                Optional.of(xid),
                boundBy,
                since,
                changedBy);
    }

    public Lease lease(DomainId domain, long epoch) {
        return new Lease(gpuId, nodeId, domain, pool, owner, epoch, changedBy, since);
    }
}
