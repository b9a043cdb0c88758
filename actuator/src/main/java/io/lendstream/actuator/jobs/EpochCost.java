package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** The cost of the transition to a membership epoch, as its workers report it. */
final class EpochCost {
    private final long epoch;
    private final Set<String> full = new LinkedHashSet<>();
    private long fullNanos;
    private Optional<Double> pauseSeconds = Optional.empty();

    EpochCost(long epoch) {
        this.epoch = epoch;
    }

    boolean isOf(long asked) {
        return epoch == asked;
    }

    /**
     * Records that a worker has completed its first step in the epoch; a newcomer has no earlier step to compare
     * with.
     */
    void resumed(JsonNode message) {
        if (message.has("lastNanos")) {
            double pause =
                    (message.path("nanos").asLong() - message.path("lastNanos").asLong()) / 1e9
                            - message.path("medianSeconds").asDouble();
            pauseSeconds = Optional.of(Math.max(pauseSeconds.orElse(0.0), pause));
        }
    }

    /** Records that a worker has completed the first step in which all workers process samples. */
    void full(String worker, JsonNode message) {
        full.add(worker);
        fullNanos = Math.max(fullNanos, message.path("nanos").asLong());
    }

    boolean isReportedByAll(Collection<String> workers) {
        return full.containsAll(workers);
    }

    /** When the last worker completed the first step in which all workers process samples. */
    long fullNanos() {
        return fullNanos;
    }

    /** The longest pause of a worker; empty if none has reported one. */
    Optional<Duration> pause() {
        return pauseSeconds.map(seconds -> Duration.ofNanos((long) (seconds * 1e9)));
    }
}
