package io.lendstream.simulator;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Where units are, and what they are. A unit is a whole GPU or a MIG instance; a GPU that is cut is none.
 *
 * <p>An instance counts as its share of the GPU's compute slices, as in the quotas of queues, and is as much slower:
 * {@link Gpu#share}. Batches of inference lose a little less: over eleven models of ParvaGPU (SC 2024) their time grows
 * with the 0.85th power of that ({@link io.lendstream.core.latency.LatencyPrior#WIDE}). Of training there are no such
 * measurements here.
 */
final class GpuPlaces {
    private final Map<GpuId, NodeId> nodes = new HashMap<>();
    private final Map<GpuId, KindId> kinds = new HashMap<>();
    private final Map<GpuId, Pool> pools = new HashMap<>();
    /** The shares of MIG instances. */
    private final Map<GpuId, Double> shares = new HashMap<>();
    /** GPUs that are or were cut. Late reports name them too. */
    private final Set<GpuId> cut = new HashSet<>();
    /** The units of each node, by its newest inventory. */
    private final Map<NodeId, List<GpuId>> present = new TreeMap<>();

    /** No units. */
    GpuPlaces() {}

    /** Whole GPUs of no pool. */
    GpuPlaces(Map<GpuId, NodeId> nodes, Map<GpuId, KindId> kinds) {
        this.nodes.putAll(nodes);
        this.kinds.putAll(kinds);
    }

    /** Takes the inventory of a node. Units that it had before are remembered, because late reports name them. */
    void learn(Node node) {
        List<GpuId> units =
                node.gpus().stream().flatMap(gpu -> learn(gpu, node).stream()).toList();
        present.put(node.nodeId(), units);
    }

    private List<GpuId> learn(Gpu gpu, Node node) {
        List<GpuId> units = gpu.migEnabled()
                ? gpu.instances().stream().map(GpuInstance::gpuId).toList()
                : List.of(gpu.gpuId());
        if (gpu.migEnabled()) {
            cut.add(gpu.gpuId());
        }
        for (GpuId unit : units) {
            nodes.put(unit, node.nodeId());
            kinds.put(unit, GpuKinds.PLAIN.of(gpu));
            pools.put(unit, node.pool());
        }
        gpu.instances().forEach(instance -> shares.put(instance.gpuId(), gpu.share(instance)));
        return units;
    }

    /** Whether nodes have or had all of these units and GPUs. */
    boolean know(Collection<GpuId> gpus) {
        return gpus.stream().allMatch(gpu -> nodes.containsKey(gpu) || cut.contains(gpu));
    }

    /** The node of every unit. */
    Map<GpuId, NodeId> nodes() {
        return nodes;
    }

    /** The kind of every unit. */
    Map<GpuId, KindId> kinds() {
        return kinds;
    }

    /** The pool of every unit. */
    Map<GpuId, Pool> pools() {
        return pools;
    }

    boolean isInference(GpuId unit) {
        return pools.get(unit) == Pool.INFERENCE;
    }

    /** The units that a node has or had, by name. */
    List<GpuId> on(NodeId node) {
        return nodes.entrySet().stream()
                .filter(entry -> entry.getValue().equals(node))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /** A unit in GPUs. */
    double share(GpuId unit) {
        return shares.getOrDefault(unit, 1.0);
    }

    /** Units in GPUs. */
    double gpus(Collection<GpuId> units) {
        return shares.isEmpty()
                ? units.size()
                : units.stream().mapToDouble(this::share).sum();
    }

    /** All units that there are, in GPUs. */
    double gpus() {
        return present.values().stream().mapToDouble(this::gpus).sum();
    }

    /** How fast a job is on units, as a share of its speed on whole GPUs: the slowest counts. */
    double pace(Collection<GpuId> units) {
        return shares.isEmpty()
                ? 1
                : units.stream().mapToDouble(this::share).min().orElse(1);
    }
}
