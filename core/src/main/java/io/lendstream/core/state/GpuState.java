package io.lendstream.core.state;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.Optional;

/**
 * A unit that can be assigned: a whole GPU, or a MIG instance.
 *
 * @param instance the MIG instance; empty for a whole GPU
 * @param history what was reported about the unit so far
 * @param since when its owner last changed
 * @param changedBy the event by which it did
 * @param kind the kind of the GPU, also of one that is cut; empty if the scheduler does not tell kinds apart
 * @param part its part in a replica of several units, until the replica has left it; or in the units that a gang gets,
 *     until all are bound
 * @param slot whether its tenant has this unit or one like it, if the driver does not choose units; absent counts as
 *     this unit
 * @param intruders who uses it beside its tenant, as far as that is certain
 */
public record GpuState(
        GpuId gpuId,
        NodeId nodeId,
        Pool pool,
        Optional<MigInstance> instance,
        Owner owner,
        @Flat UnitHistory history,
        Instant since,
        long changedBy,
        Optional<KindId> kind,
        Optional<GroupPart> part,
        Optional<SlotKnowledge> slot,
        Optional<Intruders> intruders) {
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
                UnitHistory.NONE,
                since,
                event,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** Whether it is a GPU, and not a part of one. Only such units work together on a job. */
    public boolean isWhole() {
        return instance.isEmpty();
    }

    public boolean isFree() {
        return owner.isFree();
    }

    /**
     * Checks that it may get an owner.
     *
     * @throws IllegalStateException if it is to be bound or recut, and is neither free nor being taken over
     */
    public void checkMayBe(Owner next) {
        boolean takes = next.isBinding() || next.isRecutting();
        if (takes && !isFree() && !(next.isAdoption() && owner.isForeign())) {
            throw new IllegalStateException(
                    "%s must be free before it is bound or recut, but is %s".formatted(gpuId, owner));
        }
    }

    /** Whether a job has it, takes it or leaves it. */
    public boolean isTraining() {
        return owner.isHeldByJob();
    }

    /** Whether it is one of several units that work together, and is reported as bound. */
    public boolean isHere() {
        return part.isPresent() && part.get().here();
    }

    public boolean isHeldBy(Tenant tenant) {
        return owner.holder().filter(tenant::equals).isPresent();
    }

    /** How often in a row it could not be bound. */
    public int failedBinds() {
        return history.failedBinds();
    }

    /** How often in a row its replica was needed again while protected. */
    public int warmHits() {
        return history.warmHits();
    }

    public Optional<Integer> lastXid() {
        return history.lastXid();
    }

    /** The service whose replica is there, or last was; empty if it is not known. */
    public Optional<ServiceId> lastService() {
        return owner.holdingService().filter(any -> !owner.isBinding()).or(history::lastService);
    }

    /** The actuator that last reported it bound. */
    public Optional<String> boundBy() {
        return history.boundBy();
    }

    /** Whether its tenant may have another unit of the same node, kind, pool and profile. */
    public boolean isSlot() {
        return slot.isPresent() && slot.get().isSlot();
    }

    /** The name by which agents report its tenant, if that is known. */
    public Optional<String> user() {
        return slot.isEmpty() ? Optional.empty() : slot.get().user();
    }

    /** With another owner. What is known about the place of a tenant, and who is beside it, ends with the tenant. */
    public GpuState with(Owner next, Instant at, long event) {
        boolean endsPart = part.isPresent() && next.holdingService().isEmpty();
        Optional<GroupPart> member = endsPart ? Optional.empty() : part;
        Optional<SlotKnowledge> place =
                slot.isPresent() && (next.isFree() || next.isQuarantined()) ? Optional.empty() : slot;
        UnitHistory known = owner.isBinding() || next.holdingService().isPresent()
                ? history
                : owner.holdingService().map(history::leftBy).orElse(history);
        boolean staysBeside = intruders.isPresent()
                && owner.holder().isPresent()
                && owner.holder().equals(next.holder());
        Optional<Intruders> beside = staysBeside ? intruders : Optional.empty();
        return new GpuState(gpuId, nodeId, pool, instance, next, known, at, event, kind, member, place, beside);
    }

    /** With other knowledge about the place of its tenant. */
    public GpuState placed(Optional<SlotKnowledge> place) {
        return new GpuState(
                gpuId, nodeId, pool, instance, owner, history, since, changedBy, kind, part, place, intruders);
    }

    /** With others that use it beside its tenant. */
    public GpuState beside(Optional<Intruders> others) {
        return new GpuState(gpuId, nodeId, pool, instance, owner, history, since, changedBy, kind, part, slot, others);
    }

    /**
     * With the tenant of another unit, and what belongs to it. Errors stay with the unit. Who is beside the tenant
     * there has to be seen first.
     */
    public GpuState takingOver(GpuState other, Instant at, long event) {
        return new GpuState(
                gpuId,
                nodeId,
                pool,
                instance,
                other.owner,
                history.takingOver(other.history),
                at,
                event,
                kind,
                other.part,
                other.slot,
                Optional.empty());
    }

    public GpuState with(MigInstance described) {
        return new GpuState(
                gpuId,
                nodeId,
                pool,
                Optional.of(described),
                owner,
                history,
                since,
                changedBy,
                kind,
                part,
                slot,
                intruders);
    }

    public GpuState withFailedBinds(int failures) {
        return with(history.withFailedBinds(failures));
    }

    /** Whether a start, or an end, under this name was reported by a decision before. */
    public boolean isTold(DecisionId decision, boolean isEnd) {
        return (isEnd ? history.slotEnd() : history.slotStart())
                .filter(decision::equals)
                .isPresent();
    }

    public GpuState toldSlot(DecisionId decision, boolean isEnd) {
        return with(history.toldSlot(decision, isEnd));
    }

    public GpuState boundBy(String actuator) {
        return with(history.boundBy(actuator));
    }

    public GpuState withWarmHits(int hits) {
        return with(history.withWarmHits(hits));
    }

    public GpuState withXid(Optional<Integer> xid) {
        return with(history.withXid(xid));
    }

    /** With what an actuator last reported about it while it was out of service. */
    public GpuState reported(Optional<EmptyReports> empty) {
        return with(history.with(empty));
    }

    /** With the names under which samples showed its tenant. */
    public GpuState seen(Optional<SeenUsers> users) {
        return with(history.seen(users));
    }

    private GpuState with(UnitHistory next) {
        return new GpuState(gpuId, nodeId, pool, instance, owner, next, since, changedBy, kind, part, slot, intruders);
    }

    /** The same unit on a node. */
    public GpuState on(NodeId other) {
        return new GpuState(
                gpuId, other, pool, instance, owner, history, since, changedBy, kind, part, slot, intruders);
    }

    /** The same unit of a GPU of a kind. */
    public GpuState of(Optional<KindId> other) {
        return new GpuState(
                gpuId, nodeId, pool, instance, owner, history, since, changedBy, other, part, slot, intruders);
    }

    /** The same unit in a pool. */
    public GpuState in(Pool other) {
        return new GpuState(
                gpuId, nodeId, other, instance, owner, history, since, changedBy, kind, part, slot, intruders);
    }

    /** The same unit as a part of a replica, or of the gain of a gang. */
    public GpuState in(GroupPart replica) {
        return in(Optional.of(replica));
    }

    /** The same unit as this part, if it is one. */
    public GpuState in(Optional<GroupPart> member) {
        return new GpuState(
                gpuId, nodeId, pool, instance, owner, history, since, changedBy, kind, member, slot, intruders);
    }

    public Lease lease(DomainId domain, long epoch) {
        return new Lease(gpuId, nodeId, domain, pool, owner, epoch, changedBy, since, kind, part, slot, intruders);
    }
}
