package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.List;

/**
 * Samples that changed no owner, need or staleness, in one event. Only the scheduler makes it (ADR 55).
 *
 * @param at the time of the newest of them, as the domain reckons
 * @param nodes one entry for each node that sent some
 */
public record SampleSummary(DomainId domain, Instant at, List<NodeSamples> nodes) implements Event {
    public SampleSummary {
        nodes = List.copyOf(nodes);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.sampleSummary(this);
    }
}
