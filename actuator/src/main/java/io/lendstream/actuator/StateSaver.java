package io.lendstream.actuator;

import io.lendstream.core.actuation.Actuation;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves the actuator's state to its file, if it has one. An actuator with a full disk continues: leases must end, and
 * after a restart the topics supply the missing state. Only a report that was sent and not acknowledged before the
 * restart may then be duplicated.
 */
final class StateSaver {
    private static final Logger LOG = LoggerFactory.getLogger(StateSaver.class);
    private static final Duration BETWEEN_SAVES = Duration.ofSeconds(1);

    private final ActuatorSettings settings;
    private final RecordTransport transport;
    private final DecisionProcessor processor;
    private final Inventory inventory;
    private final InstantSource wallClock;
    private final Optional<StateFile> file;
    /** Why the state cannot be written; empty while it can. */
    private Optional<String> unwritable = Optional.empty();

    private Instant savedAt = Instant.EPOCH;

    StateSaver(
            ActuatorSettings settings,
            RecordTransport transport,
            DecisionProcessor processor,
            Inventory inventory,
            InstantSource wallClock) {
        this.settings = settings;
        this.transport = transport;
        this.processor = processor;
        this.inventory = inventory;
        this.wallClock = wallClock;
        this.file = settings.stateDir().map(StateFile::in);
    }

    /** The saved state under this name, or the empty state. */
    ActuatorState load() {
        return file.flatMap(StateFile::load)
                .filter(found -> found.actuator().equals(settings.name()))
                .orElseGet(() -> ActuatorState.empty(settings.name()));
    }

    /** Whether the state survives a restart. */
    boolean hasFile() {
        return file.isPresent();
    }

    /** Why the state cannot be written; empty while it can. */
    Optional<String> trouble() {
        return unwritable;
    }

    /** Whether there are changes that have waited long enough to be saved. */
    boolean isDue() {
        return processor.isChanged()
                && Duration.between(savedAt, wallClock.instant()).compareTo(BETWEEN_SAVES) >= 0;
    }

    /**
     * Saves the state, if possible.
     *
     * @param answered the last virtual time that was answered
     */
    void save(Optional<Instant> answered) {
        boolean isSaved = file.isEmpty() || isSaved(file.get(), state(answered));
        processor.changed(!isSaved);
        savedAt = wallClock.instant();
    }

    private ActuatorState state(Optional<Instant> answered) {
        Actuation actuation = processor.actuation();
        Map<String, Long> decisions = processor.positions();
        ReportOutbox.Contents unsent = transport.unsent();
        return new ActuatorState(
                settings.name(),
                actuation.snapshot(),
                decisions,
                unsent.positions(),
                answered,
                transport
                        .writer()
                        .map(writer ->
                                new ActuatorState.Alone(writer, unsent.reports(), inventory.concerning(actuation))));
    }

    private boolean isSaved(StateFile to, ActuatorState state) {
        try {
            to.save(state);
        } catch (UncheckedIOException e) {
            String reason =
                    "actuator.state-dir is %s, which cannot be written (%s); free disk space, or repair the disk"
                            .formatted(
                                    settings.stateDir().orElseThrow(),
                                    Objects.requireNonNull(e.getCause()).getMessage());
            if (!unwritable.equals(Optional.of(reason))) {
                LOG.error("{}. The actuator continues without saving and retries every second.", reason);
            }
            unwritable = Optional.of(reason);
            return false;
        }
        unwritable.ifPresent(over -> LOG.info("state saved again"));
        unwritable = Optional.empty();
        return true;
    }
}
