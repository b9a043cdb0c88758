package io.lendstream.actuator;

import io.lendstream.core.actuation.ActuationSnapshot;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The saved state of an actuator.
 *
 * @param actuator name of the actuator
 * @param decisions the next decision to process, by {@code topic-partition}
 * @param reports positions up to which its reports are part of this state, by {@code topic-partition}
 * @param answered the last virtual time that it answered in an accelerated run
 * @param alone the data for working without a broker; empty in the state of a version without that ability
 */
record ActuatorState(
        String actuator,
        ActuationSnapshot actuation,
        Map<String, Long> decisions,
        Map<String, Long> reports,
        Optional<Instant> answered,
        Optional<Alone> alone) {
    ActuatorState {
        decisions = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(decisions));
        reports = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(reports));
    }

    /**
     * The data with which an actuator continues without a broker.
     *
     * @param writer transactional ID of its writer; no other process uses it
     * @param unsent reports that may not be on the topic, in order
     */
    record Alone(String writer, List<ActuationReport> unsent, Known known) {
        Alone {
            unsent = List.copyOf(unsent);
        }
    }

    /** The declarations of tenants that have GPUs, and of the nodes of these GPUs. */
    record Known(List<Node> nodes, List<TrainingJob> jobs, List<InferenceService> services) {
        Known {
            nodes = List.copyOf(nodes);
            jobs = List.copyOf(jobs);
            services = List.copyOf(services);
        }
    }

    /** Reports that may not be on the topic, and the end of those that are. */
    ReportOutbox.Contents outbox() {
        return new ReportOutbox.Contents(alone.map(Alone::unsent).orElse(List.of()), reports);
    }

    /** The state of an actuator that has done nothing yet. */
    static ActuatorState empty(String actuator) {
        return new ActuatorState(
                actuator, ActuationSnapshot.empty(), Map.of(), Map.of(), Optional.empty(), Optional.empty());
    }
}
