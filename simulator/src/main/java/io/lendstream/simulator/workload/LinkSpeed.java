package io.lendstream.simulator.workload;

/**
 * How much faster jobs synchronise on a kind of GPU than their truth says: by the links of its nodes.
 *
 * @param inNode with all GPUs on a node
 * @param betweenNodes with GPUs on several nodes
 */
public record LinkSpeed(double inNode, double betweenNodes) {
    public LinkSpeed {
        if (!(inNode > 0 && betweenNodes > 0)) {
            throw new IllegalArgumentException(
                    "links must have a speed above 0, but had %s in a node and %s between nodes"
                            .formatted(inNode, betweenNodes));
        }
    }

    double over(int nodes) {
        return nodes > 1 ? betweenNodes : inNode;
    }
}
