package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A scheduler took over the domain: the first event of an epoch.
 *
 * @param epoch the new term of office, greater than every earlier one
 * @param policy the policy it plans with, by name and settings ({@code name:key=value})
 * @param settings everything else that its decisions depend on, by configuration key, so that the log alone suffices to
 *     make them again
 * @param decidesFrom the time of its takeover by its own clock, if there was a backlog; it applies earlier events, but
 *     makes no decisions for them
 */
public record SchedulerStarted(
        DomainId domain,
        Instant at,
        long epoch,
        String policy,
        Map<String, String> settings,
        Optional<Instant> decidesFrom)
        implements Event {
    public SchedulerStarted {
        Checks.atLeast("epoch", 1, epoch);
        settings = Map.copyOf(settings);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.started(this);
    }
}
