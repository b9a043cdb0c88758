package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The progress of a service: it has processed everything up to {@code eventTime}.
 *
 * @param service a {@link ServiceName}, or the name of a service that a later version has
 * @param positions end offset, exclusive, of its records of this domain so far, by {@code topic-partition}. The
 *     scheduler cannot know offsets before its transaction ends; under {@value #DECISIONS} it gives the number of its
 *     decisions, which is the sequence of the last
 * @param nextEventAt the next time at which it acts without a record, if known
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
