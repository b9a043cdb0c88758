package io.lendstream.simulator;

import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;

/**
 * An answered request.
 *
 * @param started when it had a GPU; a replica that was not warm still had to come up then
 * @param coldStart whether it waited for a replica to come up
 */
public record RequestResult(
        String name,
        ServiceId service,
        Instant submitted,
        Instant started,
        Instant completed,
        Duration computing,
        boolean coldStart) {
    /** Wait for a GPU. */
    public Duration startDelay() {
        return Duration.between(submitted, started);
    }

    /** All but computing: the wait for a GPU and for a replica to come up. */
    public Duration overhead() {
        return Duration.between(submitted, completed).minus(computing);
    }
}
