package io.lendstream.core.event;

import io.lendstream.core.cluster.DomainId;
import java.time.Instant;
import java.util.Map;

/**
 * A scheduler took over the domain: the first event of an epoch.
 *
 * @param epoch the new term of office, greater than every earlier one
 * @param policy the policy it plans with, by name and settings ({@code name:key=value})
 * @param settings everything else that its decisions depend on, by configuration key, so that the log alone suffices to
 *     make them again
 */
public record SchedulerStarted(DomainId domain, Instant at, long epoch, String policy, Map<String, String> settings)
        implements Event {
    public SchedulerStarted {
        Checks.atLeast("epoch", 1, epoch);
        settings = Map.copyOf(settings);
    }
}
