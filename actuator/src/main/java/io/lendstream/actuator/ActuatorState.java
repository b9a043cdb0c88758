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
 * What an actuator remembers over a restart.
 *
 * @param actuator whose memory it is
 * @param decisions the next decision to take, by {@code topic-partition}
 * @param reports up to where its reports are those of this memory, by {@code topic-partition}
 * @param answered the time of an accelerated run that it has answered last
 * @param alone what it needs to go on without a broker; empty in the state of a version that could not
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
     * What an actuator needs to go on without a broker.
     *
     * @param writer the name of its writer; no other process writes under it
     * @param unsent reports that are not known to be on the topic, in order
     */
    record Alone(String writer, List<ActuationReport> unsent, Known known) {
        Alone {
            unsent = List.copyOf(unsent);
        }
    }

    /** What the topics said of those that have GPUs, and of the GPUs' nodes. */
    record Known(List<Node> nodes, List<TrainingJob> jobs, List<InferenceService> services) {
        Known {
            nodes = List.copyOf(nodes);
            jobs = List.copyOf(jobs);
            services = List.copyOf(services);
        }
    }

    /** The reports that are not known to be on the topic, and up to where those that are reach. */
    ReportOutbox.Contents outbox() {
        return new ReportOutbox.Contents(alone.map(Alone::unsent).orElse(List.of()), reports);
    }

    /** That of an actuator that has done nothing yet. */
    static ActuatorState empty(String actuator) {
        return new ActuatorState(
                actuator, ActuationSnapshot.empty(), Map.of(), Map.of(), Optional.empty(), Optional.empty());
    }
}
