package io.lendstream.core.event;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Pool;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A node's inventory, as its agent found it.
 *
 * @param bootId changes whenever the agent starts; with a sample's sequence it tells duplicates apart
 * @param driverVersion of the GPUs' driver, where it told
 */
public record Node(
        NodeId nodeId,
        DomainId domain,
        Pool pool,
        String bootId,
        Instant at,
        NodeStatus status,
        List<Gpu> gpus,
        Optional<String> driverVersion)
        implements Event {
    public Node {
        gpus = List.copyOf(gpus);
    }

    /** One whose driver is not known. */
    public Node(
            NodeId nodeId, DomainId domain, Pool pool, String bootId, Instant at, NodeStatus status, List<Gpu> gpus) {
        this(nodeId, domain, pool, bootId, at, status, gpus, Optional.empty());
    }
}
