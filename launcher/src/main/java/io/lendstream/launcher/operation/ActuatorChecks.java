package io.lendstream.launcher.operation;

import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.Optional;

/** Reads decisions and reports for the findings about actuators. */
final class ActuatorChecks {
    private final TopicScan reading;
    private final boolean virtual;
    private final Instant wallClock;
    private Optional<ActuatorWatch> known = Optional.empty();

    ActuatorChecks(TopicScan reading, boolean virtual, Instant wallClock) {
        this.reading = reading;
        this.virtual = virtual;
        this.wallClock = wallClock;
    }

    /** Whether decisions have answers. */
    Finding decisions() {
        return watch().decisions(wallClock, virtual);
    }

    /** Whether each actuator is alive. */
    Finding alive() {
        return watch().alive(wallClock);
    }

    /** Whether each node has one actuator. */
    Finding scopes() {
        SeenActuators seen = new SeenActuators();
        reading.values(TopicCatalogue.NODES, seen::take);
        reading.values(TopicCatalogue.ACTUATORS, seen::take);
        reading.values(TopicCatalogue.SERVICES, seen::take);
        return seen.finding();
    }

    private ActuatorWatch watch() {
        ActuatorWatch watch = known.orElseGet(this::read);
        known = Optional.of(watch);
        return watch;
    }

    /** Reads the decisions first, so that none of them lacks an answer that came in the meantime. */
    private ActuatorWatch read() {
        ActuatorWatch watch = new ActuatorWatch();
        reading.all(
                TopicCatalogue.DECISIONS,
                received -> received.value().ifPresent(decision -> watch.takeDecision(decision, received.written())));
        reading.values(TopicCatalogue.ACTUATION_REPORTS, watch::takeReport);
        if (virtual) {
            reading.values(TopicCatalogue.PROGRESS, watch::takeProgress);
        }
        return watch;
    }
}
