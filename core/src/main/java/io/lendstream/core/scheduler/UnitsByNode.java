package io.lendstream.core.scheduler;

import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ClusterIndex;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeGpuKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The units of a step in the order of their nodes. */
record UnitsByNode(StepBuilder builder) {
    /** GPUs on nodes that can be reached, node by node. */
    List<GpuState> usable() {
        List<GpuState> usable = new ArrayList<>(builder.gpus().size());
        Optional<NodeId> node = Optional.empty();
        boolean reachable = false;
        for (GpuState gpu : builder.clusterIndex().gpus().seats().values()) {
            if (node.isEmpty() || !node.get().equals(gpu.nodeId())) {
                node = Optional.of(gpu.nodeId());
                reachable = builder.isReachable(gpu);
            }
            if (reachable) {
                usable.add(gpu);
            }
        }
        return usable;
    }

    /** A node's units in their present state, by name; found by the node, without reading other nodes. */
    List<GpuState> on(NodeId node) {
        return on(builder.clusterIndex(), node);
    }

    /** The same in a state. */
    static List<GpuState> on(ClusterIndex clusterIndex, NodeId node) {
        List<GpuState> units = new ArrayList<>();
        for (Map.Entry<NodeGpuKey, GpuState> unit :
                clusterIndex.gpus().seats().from(seat -> seat.node().compareTo(node) >= 0)) {
            if (!unit.getKey().node().equals(node)) {
                break;
            }
            units.add(unit.getValue());
        }
        return units;
    }
}
