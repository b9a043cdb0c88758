package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import java.time.Instant;

/** Time has come: a deadline, the end of a lease, or the time to plan. */
public record Tick(DomainId domain, Instant at) implements Event {
    @Override
    public <T> T match(Cases<T> cases) {
        return cases.tick(this);
    }
}
