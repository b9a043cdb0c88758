package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobIndex;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Takes into the state which nodes, GPUs and MIG instances there are. Decides nothing. */
record InventoryApplier(StepBuilder builder, ClusterModel model) {
    void take(Node node) {
        if (builder.nodes()
                .get(node.nodeId())
                .filter(known -> known.node().covers(node))
                .isEmpty()) {
            describe(node);
        }
    }

    /** Applies a node's report of its GPUs, also a repeated one. */
    void describe(Node node) {
        Optional<NodeState> before = builder.nodes().get(node.nodeId());
        boolean isRelabelled = before.filter(known -> !known.node().facts().equals(node.facts()))
                .isPresent();
        JobIndex jobs = builder.clusterIndex().jobs();
        boolean mayMatter = !jobs.shaped().isEmpty()
                || !jobs.refused().isEmpty()
                || node.facts().hasHost();
        if (isRelabelled && mayMatter) {
            builder.invalidatePlan();
        }
        builder.put(before.map(known -> known.describedBy(node)).orElseGet(() -> NodeState.of(node)));
        Set<GpuId> reported = new HashSet<>();
        for (Gpu gpu : node.gpus()) {
            if (gpu.migEnabled()) {
                for (GpuInstance instance : gpu.instances()) {
                    reported.add(instance.gpuId());
                    add(node, instance.gpuId(), Optional.of(MigInstance.of(gpu, instance)));
                    sort(instance.gpuId(), model.kind(gpu));
                }
            } else {
                reported.add(gpu.gpuId());
                add(node, gpu.gpuId(), Optional.empty());
                sort(gpu.gpuId(), model.kind(gpu));
            }
        }
        if (node.status() != NodeStatus.READY) {
            return; // it does not see its GPUs just now, which is not to say that they are gone
        }
        for (GpuState gpu : new UnitsByNode(builder).on(node.nodeId())) {
            boolean isComing =
                    gpu.owner().asRecutting().filter(Owner.Recutting::coming).isPresent();
            if (!reported.contains(gpu.gpuId()) && !isComing) {
                gone(gpu, "its node no longer reports it");
            }
        }
    }

    /** Sorts all known units into kinds, by the last inventories. A unit whose node has left keeps its kind. */
    void sortIntoKinds() {
        if (!model.kinds()) {
            builder.gpus().values().forEach(unit -> sort(unit.gpuId(), Optional.empty()));
            return;
        }
        for (NodeState node : builder.nodes().values()) {
            for (Gpu gpu : node.node().gpus()) {
                sort(gpu.gpuId(), model.kind(gpu));
                gpu.instances().forEach(instance -> sort(instance.gpuId(), model.kind(gpu)));
            }
        }
    }

    private void sort(GpuId id, Optional<KindId> kind) {
        builder.gpus().get(id).filter(unit -> !unit.kind().equals(kind)).ifPresent(unit -> {
            builder.describe(unit.of(kind));
            builder.invalidatePlan();
        });
    }

    private void add(Node node, GpuId gpu, Optional<MigInstance> instance) {
        Optional<GpuState> known = builder.gpus().get(gpu);
        Optional<Owner.Recutting> recutting = known.flatMap(unit -> unit.owner().asRecutting());
        if (known.isEmpty()) {
            builder.invalidatePlan();
            builder.put(
                    GpuState.free(gpu, node.nodeId(), node.pool(), instance, builder.now(), builder.eventSequence()));
            builder.own(gpu, unseen());
        } else if (recutting.isPresent()) {
            boolean isThere = recutting.get().coming()
                    && known.get().instance().map(MigInstance::profile).equals(instance.map(MigInstance::profile));
            if (isThere) {
                instance.ifPresent(described -> builder.put(known.get().with(described)));
                builder.own(gpu, new Owner.Free());
            }
        } else if (instance.isPresent() && !instance.equals(known.get().instance())) {
            described(known.get(), instance.get());
        }
        builder.gpus().get(gpu).ifPresent(this::move);
    }

    /** A unit follows its node to another pool as soon as it is free. */
    private void move(GpuState unit) {
        GpuState moved = builder.entities().pooled(unit);
        if (unit.isFree() && unit.pool() != moved.pool()) {
            builder.describe(moved);
            builder.invalidatePlan();
        }
    }

    /** Instances of the same place need not be of the same size: a 3g and a 4g both cover half of the memory. */
    private void described(GpuState gpu, MigInstance instance) {
        boolean isAnother = gpu.instance().isPresent();
        builder.invalidatePlan();
        builder.put(gpu.with(instance));
        if (isAnother && gpu.owner().isForeign()) {
            builder.own(gpu.gpuId(), unseen());
        } else if (isAnother && !gpu.isFree()) {
            quarantineUntilReset(
                    builder.gpu(gpu.gpuId()),
                    "the cut of its GPU changed while it was " + gpu.owner().label());
        }
    }

    void take(NodeLeft left) {
        NodeId node = left.nodeId();
        builder.remove(node);
        for (JobState job : builder.clusterIndex().jobs().paused().values()) {
            if (job.paused().filter(at -> at.node().equals(node)).isPresent()) {
                builder.put(job.notPaused());
                builder.invalidatePlan();
            }
        }
        for (GpuState gpu : new UnitsByNode(builder).on(node)) {
            gone(gpu, "its node left");
        }
    }

    private void gone(GpuState gpu, String why) {
        boolean isPast = gpu.owner().isForeign() || (gpu.owner().isQuarantined() && !gpu.isWhole());
        if (gpu.isFree() || gpu.owner().isRecutting() || isPast) {
            builder.remove(gpu.gpuId());
        } else {
            quarantine(gpu, why);
        }
    }

    /** The owner of a unit without a tenant of which it is not known whether others use it. */
    Owner unseen() {
        return model.users().heeded() ? new Owner.Quarantined(ForeignUse.UNKNOWN) : new Owner.Free();
    }

    /** Forgets what the rules for users do not count. */
    void forgetUncounted() {
        if (!rules().heeded()) {
            UserSamples.forget(builder);
        }
        if (!rules().noticesIntruders()) {
            IntruderSamples.forget(builder);
        }
        if (!rules().countsEvidence()) {
            QuarantineEvidence.forget(builder);
        }
    }

    /** Ends the time of a tenant on a unit: it is free, unless others are known to stay there. */
    void left(GpuState unit) {
        builder.own(unit.gpuId(), afterTenant(unit));
    }

    /** The owner of a unit after its tenant. */
    Owner afterTenant(GpuState unit) {
        return new IntruderSamples(builder, rules()).afterTenant(unit);
    }

    /** Puts a GPU out of service until it is known that nothing runs there, or a reset, unless it is. */
    void quarantine(GpuState gpu, String why) {
        quarantine(gpu, rules().quarantine(why));
    }

    /** Puts a GPU out of service until a reset, unless it is out of service. */
    void quarantineUntilReset(GpuState gpu, String why) {
        quarantine(gpu, new Owner.Quarantined(why));
    }

    private void quarantine(GpuState gpu, Owner.Quarantined quarantined) {
        if (!gpu.owner().isQuarantined() || gpu.owner().isForeign()) {
            builder.own(gpu.gpuId(), quarantined);
        }
    }

    /** What is made of the users of units. */
    UserRules rules() {
        return model.users();
    }

    /** The evidence that ends quarantines. */
    QuarantineEvidence evidence() {
        return new QuarantineEvidence(builder, rules());
    }
}
