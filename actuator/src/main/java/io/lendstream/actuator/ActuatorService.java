package io.lendstream.actuator;

import io.lendstream.actuator.standby.Active;
import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The actuator's loop: it reads records, runs a turn, and saves the state. The turn depends on the clock: see {@link
 * WallClockTurns} and {@link VirtualTurns}.
 *
 * <p>With the wall clock it needs no broker to continue, nor to start from its state file: it enforces leases,
 * notices and deadlines, and queues reports.
 */
final class ActuatorService implements RecordTransport.Routes {
    /** The topics that the actuator reads or writes. */
    static final List<Topic<?>> TOPICS = List.of(
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.DECISIONS,
            TopicCatalogue.ACTUATION_REPORTS,
            TopicCatalogue.ACTUATORS,
            TopicCatalogue.PROGRESS);

    private static final Logger LOG = LoggerFactory.getLogger(ActuatorService.class);
    /** How long a stop waits for reports to be delivered. */
    private static final Duration LAST_REPORTS = Duration.ofSeconds(5);

    private final ActuatorSettings settings;
    private final RecordTransport transport;
    private final DecisionProcessor processor;
    private final DeclarationIntake declarations;
    private final StateSaver saver;
    private final Turns turns;
    private final Health health;

    private ActuatorService(
            ActuatorSettings settings,
            RecordTransport transport,
            DecisionProcessor processor,
            DeclarationIntake declarations,
            StateSaver saver,
            Turns turns,
            Health health) {
        this.settings = settings;
        this.transport = transport;
        this.processor = processor;
        this.declarations = declarations;
        this.saver = saver;
        this.turns = turns;
        this.health = health;
    }

    /** An actuator that uses the wall clock, and has no standby instances. */
    static ActuatorService byWallClock(
            ActuatorSettings settings,
            RecordTransport transport,
            Health health,
            MeterRegistry metrics,
            InstantSource wallClock) {
        return byWallClock(settings, transport, Active.ALONE, health, metrics, wallClock);
    }

    /** An actuator that uses the wall clock. */
    static ActuatorService byWallClock(
            ActuatorSettings settings,
            RecordTransport transport,
            Active active,
            Health health,
            MeterRegistry metrics,
            InstantSource wallClock) {
        var processor = new DecisionProcessor(settings, transport, metrics, TimeMode.WALL);
        var inventory = inventory(processor);
        var saver = new StateSaver(settings, transport, processor, inventory, wallClock);
        var known = new KnownDeclarations(inventory, new SelfDescription(settings), new FoundTenants(settings));
        var declarations = new DeclarationIntake(settings, processor, known);
        var turns = new WallClockTurns(settings, transport, processor, known, saver, active, wallClock);
        return new ActuatorService(settings, transport, processor, declarations, saver, turns, health);
    }

    /**
     * An actuator of an accelerated run, which uses the virtual-time driver's clock.
     *
     * @param wallClock the clock for saving state
     */
    static ActuatorService accelerated(
            ActuatorSettings settings,
            DirectTransport transport,
            Health health,
            MeterRegistry metrics,
            InstantSource wallClock) {
        var processor = new DecisionProcessor(settings, transport, metrics, TimeMode.VIRTUAL);
        var inventory = inventory(processor);
        var saver = new StateSaver(settings, transport, processor, inventory, wallClock);
        var known = new KnownDeclarations(inventory, new SelfDescription(settings), new FoundTenants(settings));
        var declarations = new DeclarationIntake(settings, processor, known);
        var turns = new VirtualTurns(transport, processor, known.description());
        return new ActuatorService(settings, transport, processor, declarations, saver, turns, health);
    }

    private static Inventory inventory(DecisionProcessor processor) {
        return new Inventory(job -> processor.actuation().home(job));
    }

    /** Whether saved state exists, from which the actuator can start without a broker. */
    static boolean canStartAlone(ActuatorSettings settings) {
        return settings.stateDir()
                .map(StateFile::in)
                .flatMap(StateFile::load)
                .filter(state -> state.actuator().equals(settings.name()))
                .filter(state -> !state.decisions().isEmpty())
                .isPresent();
    }

    /**
     * Restores the saved state, then reads the topics, or starts without them.
     *
     * @param stopped whether to stop waiting
     */
    void start(BooleanSupplier stopped) {
        health.notReady("catching up with the topics");
        catchUp(stopped);
        if (stopped.getAsBoolean()) {
            return;
        }
        turns.resume();
        LOG.info(
                "{} {}: it manages {}, {} held, {} pending, driver {}, {} time",
                settings.name(),
                processor.hasCaughtUp() ? "is ready" : "is working without a broker",
                settings.scope().inWords(),
                Reason.counted(actuation().heldGpus(), "GPU"),
                Reason.counted(processor.pending(), "decision"),
                settings.driver().name().toLowerCase(Locale.ROOT) + (settings.dryRun() ? " (dry run)" : ""),
                turns.mode().name().toLowerCase(Locale.ROOT));
        tellHealth();
    }

    private void catchUp(BooleanSupplier stopped) {
        ActuatorState state = saver.load();
        processor.restore(state);
        turns.restore(state);
        state.alone().map(ActuatorState.Alone::known).ifPresent(declarations::restore);
        transport.start(state, this, stopped);
    }

    /**
     * Brings the saved state up to the topics, as a standby instance does: it gives no order and sends no report. A
     * report that the active instance owes is saved.
     */
    void follow(BooleanSupplier stopped) {
        catchUp(stopped);
        if (processor.hasCaughtUp()) {
            saver.save(turns.answered());
        }
    }

    /** Runs one turn: reads records, executes orders, publishes reports. */
    void turn(Duration patience) {
        transport.poll(turns.patience(patience));
        tellHealth();
        turns.turn();
        if (saver.isDue()) {
            saver.save(turns.answered());
        }
    }

    private void tellHealth() {
        Optional<String> trouble = transport.trouble().or(saver::trouble);
        if (trouble.isEmpty() && !processor.hasCaughtUp()) {
            health.notReady("catching up with the topics");
        } else {
            trouble.ifPresentOrElse(health::notReady, health::ready);
        }
    }

    /** Saves the state and closes the connections; jobs and replicas continue to run. */
    void finish() {
        health.notReady("stopping");
        turns.close();
        if (!transport.finish(LAST_REPORTS)) {
            LOG.warn(
                    "stopping with {} undelivered reports{}",
                    transport.unsent().reports().size(),
                    saver.hasFile() ? "; they are kept for the next start" : "");
        }
        saver.save(turns.answered());
    }

    /**
     * Ends after another instance has become active: jobs and replicas continue to run, and what is not saved or sent
     * is left to the other one.
     */
    void abandon() {
        health.notReady("another instance is active now");
        turns.close();
    }

    /** The orders in progress. */
    Actuation actuation() {
        return processor.actuation();
    }

    @Override
    public void on(RecordReader reader, Executor to) {
        declarations.on(reader, to);
        reader.handing(TopicCatalogue.DECISIONS, received -> to.execute(() -> processor.read(received)));
        turns.on(reader, to);
    }

    @Override
    public void joined(List<ActuationReport> reportsSince) {
        processor.catchUp(reportsSince);
    }
}
