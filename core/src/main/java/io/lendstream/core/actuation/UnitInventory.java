package io.lendstream.core.actuation;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.SlotClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The GPUs and MIG instances that nodes declare, with their pools and domains. */
final class UnitInventory {
    private final Map<GpuId, Pool> pools = new HashMap<>();
    /** The domain of each unit: the first that declares it keeps it until the node is forgotten. */
    private final Map<GpuId, DomainId> domains = new HashMap<>();

    /** The GPU of each unit. */
    private final Map<GpuId, Gpu> gpus = new HashMap<>();

    /** The node of each unit. */
    private final Map<GpuId, NodeId> nodes = new HashMap<>();

    private final Map<InDomain<NodeId>, List<GpuId>> unitsByNode = new HashMap<>();
    /** The nodes of this actuator; empty for all. */
    private Set<NodeId> scope = Set.of();
    /** The nodes of the units that are on nodes of other actuators. */
    private final Map<GpuId, InDomain<NodeId>> outside = new HashMap<>();
    /** GPUs on which MIG instances can be created and destroyed. */
    private final Map<GpuId, Gpu> cuttable = new HashMap<>();

    /** Keeps to some nodes: the units of others belong to other actuators. It is called before nodes are declared. */
    void keepTo(List<NodeId> nodes) {
        scope = Set.copyOf(nodes);
    }

    /** Whether there may be other actuators. */
    boolean isScoped() {
        return !scope.isEmpty();
    }

    /** Whether a unit is on a node of another actuator. */
    boolean isOutside(GpuId unit) {
        return !isKnown(unit) && outside.containsKey(unit);
    }

    /** Replaces what the node declared before. The units of a node of an unknown pool are never used. */
    void declare(Node node) {
        DomainId domain = node.domain();
        forget(domain, node.nodeId());
        if (node.pool() == Pool.UNKNOWN) {
            return;
        }
        var units = new ArrayList<GpuId>();
        for (Gpu gpu : node.gpus()) {
            units.add(gpu.gpuId());
            gpu.instances().forEach(instance -> units.add(instance.gpuId()));
        }
        if (isScoped() && !scope.contains(node.nodeId())) {
            units.forEach(unit -> outside.put(unit, new InDomain<>(domain, node.nodeId())));
            return;
        }
        units.removeIf(unit -> isElsewhere(domain, unit));
        unitsByNode.put(new InDomain<>(domain, node.nodeId()), units);
        units.forEach(unit -> {
            pools.put(unit, node.pool());
            domains.put(unit, domain);
            nodes.put(unit, node.nodeId());
        });
        for (Gpu gpu : node.gpus()) {
            know(gpu, gpu.gpuId(), units);
            gpu.instances().forEach(instance -> know(gpu, instance.gpuId(), units));
        }
        node.gpus().stream()
                .filter(gpu -> gpu.isCuttable() && units.contains(gpu.gpuId()))
                .forEach(gpu -> cuttable.put(gpu.gpuId(), gpu));
    }

    private void know(Gpu gpu, GpuId unit, List<GpuId> units) {
        if (units.contains(unit)) {
            gpus.put(unit, gpu);
        }
    }

    /** Removes a node of one domain. A node of the same name in another domain stays. */
    void forget(DomainId domain, NodeId node) {
        outside.values().removeIf(new InDomain<>(domain, node)::equals);
        Optional.ofNullable(unitsByNode.remove(new InDomain<>(domain, node)))
                .ifPresent(units -> units.forEach(unit -> {
                    pools.remove(unit);
                    domains.remove(unit);
                    nodes.remove(unit);
                    cuttable.remove(unit);
                    gpus.remove(unit);
                }));
    }

    /** The domains that declare a node of this name. */
    List<DomainId> domainsOf(NodeId node) {
        return unitsByNode.keySet().stream()
                .filter(declared -> declared.id().equals(node))
                .map(InDomain::domain)
                .toList();
    }

    /** The units of one node of one domain. */
    List<GpuId> unitsOf(DomainId domain, NodeId node) {
        return unitsByNode.getOrDefault(new InDomain<>(domain, node), List.of());
    }

    /** All units of a domain, sorted. */
    List<GpuId> unitsOf(DomainId domain) {
        return unitsByNode.entrySet().stream()
                .filter(node -> node.getKey().domain().equals(domain))
                .flatMap(node -> node.getValue().stream())
                .sorted()
                .toList();
    }

    boolean isKnown(GpuId unit) {
        return pools.containsKey(unit);
    }

    boolean isTraining(GpuId unit) {
        return pools.get(unit) == Pool.TRAINING;
    }

    Optional<DomainId> domainOf(GpuId unit) {
        return Optional.ofNullable(domains.get(unit));
    }

    /** The node of a unit. */
    Optional<NodeId> nodeOf(GpuId unit) {
        return Optional.ofNullable(nodes.get(unit));
    }

    /** Whether a unit is known as one of another domain. */
    boolean isElsewhere(DomainId domain, GpuId unit) {
        return domainOf(unit).filter(other -> !other.equals(domain)).isPresent();
    }

    /** The GPU of this name if its MIG instances can be changed. */
    Optional<Gpu> cuttable(GpuId gpu) {
        return Optional.ofNullable(cuttable.get(gpu));
    }

    /**
     * The units that a driver may take for a unit, if it does not choose units; empty if the unit is not known, or a
     * GPU whose MIG instances are used in its place.
     */
    Optional<SlotClass> slotClass(GpuId unit) {
        Gpu gpu = gpus.get(unit);
        NodeId node = nodes.get(unit);
        Pool pool = pools.get(unit);
        if (gpu == null || node == null || pool == null || (gpu.migEnabled() && unit.equals(gpu.gpuId()))) {
            return Optional.empty();
        }
        Optional<String> profile = gpu.instances().stream()
                .filter(instance -> instance.gpuId().equals(unit))
                .map(GpuInstance::profile)
                .findFirst();
        return Optional.of(new SlotClass(node, kind(unit), pool, profile));
    }

    /** The known units like a unit, by name; those that a driver may take for it if it does not choose units. */
    List<GpuId> alike(GpuId unit) {
        Optional<SlotClass> like = slotClass(unit);
        Optional<DomainId> domain = domainOf(unit);
        if (like.isEmpty() || domain.isEmpty()) {
            return List.of();
        }
        return unitsOf(domain.get(), like.get().node()).stream()
                .filter(other -> slotClass(other).equals(like))
                .sorted()
                .toList();
    }

    /** The kind of the GPU of a unit, by its name and memory. */
    Optional<KindId> kind(GpuId unit) {
        return Optional.ofNullable(gpus.get(unit)).map(GpuKinds.PLAIN::of);
    }
}
