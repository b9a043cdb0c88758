package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import java.time.Instant;

/** A node was taken out of the inventory (a tombstone on its key). */
public record NodeLeft(NodeId nodeId, DomainId domain, Instant at) implements Event {
    @Override
    public <T> T match(Cases<T> cases) {
        return cases.nodeLeft(this);
    }
}
