package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * How far a service has got: it has answered everything up to {@code eventTime}.
 *
 * @param service a {@link ServiceName}, or the name of a service that a later version has
 * @param positions end offset, exclusive, of what it has written of this domain so far, by {@code topic-partition}. The
 *     scheduler cannot know offsets before its transaction ends; it says under {@value #DECISIONS} how many decisions
 *     it has made, which is the sequence of the last
 * @param nextEventAt when it next has something to do by itself, where it knows
 */
public record Progress(
        String service,
        DomainId domain,
        Instant eventTime,
        Map<String, Long> positions,
        Optional<Instant> nextEventAt) {
    /** The scheduler's position: the sequence of its last decision; 0 before the first. */
    public static final String DECISIONS = "decisions";

    public Progress {
        positions = Map.copyOf(positions);
    }

    public static Progress of(
            ServiceName service,
            DomainId domain,
            Instant eventTime,
            Map<String, Long> positions,
            Optional<Instant> nextEventAt) {
        return new Progress(service.toString(), domain, eventTime, positions, nextEventAt);
    }

    /** Whether it is of that service. Never true for a service that this version does not know. */
    public boolean isOf(ServiceName name) {
        return service.equals(name.toString());
    }
}
