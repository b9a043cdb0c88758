package io.lendstream.core.policy;

import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeGpuKey;
import io.lendstream.core.state.NodeState;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The layout of a state's nodes. The GPUs are counted on the first question. */
public final class ClusterLayout implements NodeLayout {
    private final PersistentMap<NodeGpuKey, GpuState> units;
    private final PersistentMap<NodeId, NodeState> nodes;
    private final TopologyLabels labels;
    private final Optional<KindId> kind;
    private final Map<NodeId, Integer> gpus = new HashMap<>();

    /**
     * A layout.
     *
     * @param units all units of the cluster, by node
     * @param kind the kind whose GPUs count; empty for all
     */
    public ClusterLayout(
            PersistentMap<NodeGpuKey, GpuState> units,
            PersistentMap<NodeId, NodeState> nodes,
            TopologyLabels labels,
            Optional<KindId> kind) {
        this.units = units;
        this.nodes = nodes;
        this.labels = labels;
        this.kind = kind;
    }

    @Override
    public int gpusOf(NodeId node) {
        if (gpus.isEmpty()) {
            for (GpuState unit : units.values()) {
                if (kind.isEmpty() || kind.equals(unit.kind())) {
                    gpus.merge(unit.nodeId(), 1, Integer::sum);
                }
            }
        }
        return gpus.getOrDefault(node, 0);
    }

    @Override
    public String domain(NodeId node, TopologyLevel level) {
        return nodes.get(node).map(known -> labels.domain(known.node(), level)).orElseGet(() -> "node " + node);
    }
}
