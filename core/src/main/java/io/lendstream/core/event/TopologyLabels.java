package io.lendstream.core.event;

import java.util.Optional;

/**
 * The labels of nodes that name their topology domains.
 *
 * @param nvlinkDomain the label that names a node's NVLink domain
 * @param rack the label that names a node's rack
 */
public record TopologyLabels(Optional<String> nvlinkDomain, Optional<String> rack) {
    /** No label names a domain: each node is a domain of its own at all levels. */
    public static final TopologyLabels NONE = new TopologyLabels(Optional.empty(), Optional.empty());

    /** The labels of settings, which are empty where there is none. */
    public static TopologyLabels of(String nvlinkDomain, String rack) {
        return new TopologyLabels(named(nvlinkDomain), named(rack));
    }

    private static Optional<String> named(String label) {
        return Optional.of(label.strip()).filter(name -> !name.isEmpty());
    }

    /** The domain of a node at a level. A node without the label is a domain of its own. */
    public String domain(Node node, TopologyLevel level) {
        Optional<String> label = switch (level) {
            case NVLINK_DOMAIN -> nvlinkDomain;
            case RACK -> rack;
            case NODE, UNKNOWN -> Optional.empty();
        };
        return label.flatMap(key -> Optional.ofNullable(node.facts().labels().get(key)))
                .orElseGet(() -> "node " + node.nodeId());
    }
}
