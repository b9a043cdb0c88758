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

/** The layout of a state's nodes. The GPUs of a node are counted on the first question about it. */
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
        return gpus.computeIfAbsent(node, this::count);
    }

    /** Found by the node, without reading other nodes. */
    private int count(NodeId node) {
        int count = 0;
        for (Map.Entry<NodeGpuKey, GpuState> unit :
                units.from(seat -> seat.node().compareTo(node) >= 0)) {
            if (!unit.getKey().node().equals(node)) {
                break;
            }
            count += kind.isEmpty() || kind.equals(unit.getValue().kind()) ? 1 : 0;
        }
        return count;
    }

    @Override
    public String domain(NodeId node, TopologyLevel level) {
        return nodes.get(node).map(known -> labels.domain(known.node(), level)).orElseGet(() -> "node " + node);
    }
}
