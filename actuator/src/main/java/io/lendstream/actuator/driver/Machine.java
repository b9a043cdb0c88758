package io.lendstream.actuator.driver;

import io.lendstream.core.id.NodeId;
import java.util.List;
import java.util.Optional;

/**
 * This machine, as others reach it for jobs over several machines.
 *
 * @param node the node that it is
 * @param ports where workers of one job meet; the same on all machines
 */
public record Machine(NodeId node, RendezvousPorts ports) {
    /** The machine of an actuator that has one node; empty for any other actuator. */
    public static Optional<Machine> of(List<NodeId> nodes, RendezvousPorts ports) {
        return nodes.size() == 1 ? Optional.of(new Machine(nodes.get(0), ports)) : Optional.empty();
    }
}
