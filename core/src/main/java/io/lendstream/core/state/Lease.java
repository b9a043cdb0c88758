package io.lendstream.core.state;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.time.Instant;
import java.util.Optional;

/**
 * The present owner of a GPU. The latest record of a GPU is the truth for other tools.
 *
 * @param epoch the scheduler's epoch in which the owner changed
 * @param sequence the domain's event by which it changed
 * @param since when it changed
 * @param kind the kind of the GPU; empty if the scheduler does not tell kinds apart
 * @param part its part in a replica of several units, or in those that a gang is about to get; empty if there is none
 * @param slot whether the owner has this unit or one like it, if its driver does not choose units; absent counts as
 *     this unit
 * @param intruders who uses the unit beside its owner; empty if none is known
 */
public record Lease(
        GpuId gpuId,
        NodeId nodeId,
        DomainId domain,
        Pool pool,
        Owner owner,
        long epoch,
        long sequence,
        Instant since,
        Optional<KindId> kind,
        Optional<GroupPart> part,
        Optional<SlotKnowledge> slot,
        Optional<Intruders> intruders) {
    /** The owner of a unit that its driver chooses and that is no part of a replica of several units. */
    public Lease(
            GpuId gpuId,
            NodeId nodeId,
            DomainId domain,
            Pool pool,
            Owner owner,
            long epoch,
            long sequence,
            Instant since,
            Optional<KindId> kind) {
        this(
                gpuId,
                nodeId,
                domain,
                pool,
                owner,
                epoch,
                sequence,
                since,
                kind,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }
}
