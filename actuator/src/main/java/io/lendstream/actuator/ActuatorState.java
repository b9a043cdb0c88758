package io.lendstream.actuator;

import io.lendstream.core.actuation.ActuationSnapshot;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an actuator remembers over a restart.
 *
 * @param actuator whose memory it is
 * @param decisions the next decision to take, by {@code topic-partition}
 * @param reports up to where its reports are those of this memory, by {@code topic-partition}
 * @param answered the time of an accelerated run that it has answered last
 */
record ActuatorState(
        String actuator,
        ActuationSnapshot actuation,
        Map<String, Long> decisions,
        Map<String, Long> reports,
        Optional<Instant> answered) {
    ActuatorState {
        decisions = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(decisions));
        reports = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(reports));
    }

    /** That of an actuator that has done nothing yet. */
    static ActuatorState empty(String actuator) {
        return new ActuatorState(actuator, ActuationSnapshot.empty(), Map.of(), Map.of(), Optional.empty());
    }
}
