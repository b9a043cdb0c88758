package io.lendstream.core.state;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.NodeId;
import java.time.Instant;

/**
 * A job without GPUs whose state is in the host memory of a node.
 *
 * @param hostMemoryBytes the memory that it has there, until it gets GPUs again or the node is lost
 */
public record PausedAt(NodeId node, long hostMemoryBytes, Instant since) {
    public PausedAt {
        Checks.atLeast("hostMemoryBytes", 0, hostMemoryBytes);
    }
}
