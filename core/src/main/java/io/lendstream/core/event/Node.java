package io.lendstream.core.event;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Pool;
import java.time.Instant;
import java.util.List;

/**
 * A node's inventory, as its agent found it.
 *
 * @param bootId changes whenever the agent starts; with a sample's sequence it tells duplicates apart
 */
public record Node(
        NodeId nodeId, DomainId domain, Pool pool, String bootId, Instant at, NodeStatus status, List<Gpu> gpus)
        implements Event {
    public Node {
        gpus = List.copyOf(gpus);
    }
}
