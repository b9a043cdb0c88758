package io.lendstream.core.simulated;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.NodeId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What simulated nodes report beside their GPUs: their names, their racks and NVLink domains, as labels say them, and
 * their hosts. Neighbours share a rack or a domain.
 *
 * @param nodesPerNvlinkDomain how many nodes an NVLink domain has; 0 for no label
 * @param nodesPerRack how many nodes a rack has; 0 for no label
 * @param host the CPU and host memory of each node
 * @param only the name of the only node; empty for names by number, such as {@code node-07}
 */
public record SimulatedTopology(int nodesPerNvlinkDomain, int nodesPerRack, SimulatedHost host, Optional<NodeId> only) {
    /** Nodes without labels. */
    public static final SimulatedTopology NONE = new SimulatedTopology(0, 0);

    /** The label that names the NVLink domain of a simulated node. */
    public static final String NVLINK_DOMAIN = "lendstream.io/nvlink-domain";

    /** The label that names the rack of a simulated node. */
    public static final String RACK = "lendstream.io/rack";

    /** Nodes that report nothing of their hosts. */
    public SimulatedTopology(int nodesPerNvlinkDomain, int nodesPerRack) {
        this(nodesPerNvlinkDomain, nodesPerRack, SimulatedHost.NONE, Optional.empty());
    }

    public SimulatedTopology {
        if (nodesPerNvlinkDomain < 0 || nodesPerRack < 0) {
            throw new IllegalArgumentException(
                    "nodes per NVLink domain and per rack must be at least 0, but were %d and %d"
                            .formatted(nodesPerNvlinkDomain, nodesPerRack));
        }
    }

    /** The same with nodes that report their CPU and host memory. */
    public SimulatedTopology with(SimulatedHost other) {
        return new SimulatedTopology(nodesPerNvlinkDomain, nodesPerRack, other, only);
    }

    /** The same with a name for the only node. */
    public SimulatedTopology with(NodeId name) {
        return new SimulatedTopology(nodesPerNvlinkDomain, nodesPerRack, host, Optional.of(name));
    }

    /** The name of a node by its number among so many. */
    NodeId name(int number, int nodes) {
        int digits = Math.max(2, String.valueOf(nodes - 1).length());
        return only.orElseGet(() -> new NodeId("node-%%0%dd".formatted(digits).formatted(number)));
    }

    /**
     * The labels of a node by its number, and its host.
     *
     * @param own labels of its own, which come first
     * @param ownHost its host; that of all nodes if it has none
     */
    NodeFacts facts(int number, Map<String, String> own, SimulatedHost ownHost) {
        Map<String, String> labels = new TreeMap<>();
        if (nodesPerNvlinkDomain > 0) {
            labels.put(NVLINK_DOMAIN, "nvlink-" + number / nodesPerNvlinkDomain);
        }
        if (nodesPerRack > 0) {
            labels.put(RACK, "rack-" + number / nodesPerRack);
        }
        labels.putAll(own);
        SimulatedHost there = ownHost.equals(SimulatedHost.NONE) ? host : ownHost;
        return there.with(labels.isEmpty() ? NodeFacts.NONE : new NodeFacts(labels));
    }

    /** The labels that name the domains. */
    public TopologyLabels labels() {
        return labels(Set.of());
    }

    /**
     * The labels that name the domains.
     *
     * @param own names of other labels that nodes have
     */
    TopologyLabels labels(Set<String> own) {
        return new TopologyLabels(
                nodesPerNvlinkDomain > 0 || own.contains(NVLINK_DOMAIN) ? Optional.of(NVLINK_DOMAIN) : Optional.empty(),
                nodesPerRack > 0 || own.contains(RACK) ? Optional.of(RACK) : Optional.empty());
    }
}
