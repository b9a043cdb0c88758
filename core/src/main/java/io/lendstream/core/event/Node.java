package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A node's inventory, as its agent found it.
 *
 * @param bootId changes whenever the agent starts; with a sequence it identifies duplicates
 * @param driverVersion of the GPUs' driver, if known
 * @param sequence 1, 2, 3, ... of its inventories since the agent's boot; 0 where it does not count them
 * @param why the faults of the node, for operators; empty if there are none. A node may be READY although a part of it
 *     is faulty
 * @param facts what else the agent knows of it
 */
public record Node(
        NodeId nodeId,
        DomainId domain,
        Pool pool,
        String bootId,
        Instant at,
        NodeStatus status,
        List<Gpu> gpus,
        Optional<String> driverVersion,
        long sequence,
        String why,
        @Flat NodeFacts facts)
        implements Event {
    public Node {
        Checks.atLeast("sequence", 0, sequence);
        gpus = List.copyOf(gpus);
    }

    /** A node without labels. */
    public Node(
            NodeId nodeId,
            DomainId domain,
            Pool pool,
            String bootId,
            Instant at,
            NodeStatus status,
            List<Gpu> gpus,
            Optional<String> driverVersion,
            long sequence,
            String why) {
        this(nodeId, domain, pool, bootId, at, status, gpus, driverVersion, sequence, why, NodeFacts.NONE);
    }

    /** One whose driver is not known. */
    public Node(
            NodeId nodeId, DomainId domain, Pool pool, String bootId, Instant at, NodeStatus status, List<Gpu> gpus) {
        this(nodeId, domain, pool, bootId, at, status, gpus, Optional.empty());
    }

    /** A node whose agent neither counts its inventories nor reports faults. */
    public Node(
            NodeId nodeId,
            DomainId domain,
            Pool pool,
            String bootId,
            Instant at,
            NodeStatus status,
            List<Gpu> gpus,
            Optional<String> driverVersion) {
        this(nodeId, domain, pool, bootId, at, status, gpus, driverVersion, 0, "");
    }

    /**
     * Another inventory of the same node.
     *
     * @param boot start of its agent, which does not count its inventories
     */
    public Node with(String boot, Instant time, List<Gpu> others) {
        return new Node(nodeId, domain, pool, boot, time, status, others, driverVersion, 0, "", facts);
    }

    /** The same node with other facts. */
    public Node with(NodeFacts others) {
        return new Node(nodeId, domain, pool, bootId, at, status, gpus, driverVersion, sequence, why, others);
    }

    /** Whether another inventory is no news: delivered again, or overtaken. */
    public boolean covers(Node other) {
        return bootId.equals(other.bootId) && other.sequence > 0 && other.sequence <= sequence;
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.node(this);
    }
}
