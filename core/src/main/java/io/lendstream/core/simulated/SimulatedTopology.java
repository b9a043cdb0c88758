package io.lendstream.core.simulated;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.TopologyLabels;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The racks and NVLink domains of simulated nodes, as labels say them. Neighbours share one.
 *
 * @param nodesPerNvlinkDomain how many nodes an NVLink domain has; 0 for no label
 * @param nodesPerRack how many nodes a rack has; 0 for no label
 */
public record SimulatedTopology(int nodesPerNvlinkDomain, int nodesPerRack) {
    /** Nodes without labels. */
    public static final SimulatedTopology NONE = new SimulatedTopology(0, 0);

    private static final String NVLINK_DOMAIN = "lendstream.io/nvlink-domain";
    private static final String RACK = "lendstream.io/rack";

    public SimulatedTopology {
        if (nodesPerNvlinkDomain < 0 || nodesPerRack < 0) {
            throw new IllegalArgumentException(
                    "nodes per NVLink domain and per rack must be at least 0, but were %d and %d"
                            .formatted(nodesPerNvlinkDomain, nodesPerRack));
        }
    }

    /** The labels of a node by its number. */
    NodeFacts facts(int number) {
        Map<String, String> labels = new TreeMap<>();
        if (nodesPerNvlinkDomain > 0) {
            labels.put(NVLINK_DOMAIN, "nvlink-" + number / nodesPerNvlinkDomain);
        }
        if (nodesPerRack > 0) {
            labels.put(RACK, "rack-" + number / nodesPerRack);
        }
        return labels.isEmpty() ? NodeFacts.NONE : new NodeFacts(labels);
    }

    /** The labels that name the domains. */
    public TopologyLabels labels() {
        return new TopologyLabels(
                nodesPerNvlinkDomain > 0 ? Optional.of(NVLINK_DOMAIN) : Optional.empty(),
                nodesPerRack > 0 ? Optional.of(RACK) : Optional.empty());
    }
}
