package io.lendstream.actuator;

import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.actuation.Refusal;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The actuator at work, in turns: reads what has arrived, takes decisions up, reports what is done.
 *
 * <p>By the machine's clock it takes decisions up as they come. It needs no broker to go on, nor to start again from its state
 * file: leases, notices and deadlines are kept, and reports wait. A report is on disk before it is sent.
 *
 * <p>In an accelerated run it answers each time that the environment names, once it has read everything that the scheduler, the
 * agent and the environment had written by their last answers, and takes up exactly the decisions among it: so the run comes out
 * the same however fast its services are.
 */
final class ActuatorService implements Exchange.Routes {
    /** The topics it reads or writes. */
    static final List<Topic<?>> TOPICS = List.of(
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.DECISIONS,
            TopicCatalogue.ACTUATION_REPORTS,
            TopicCatalogue.PROGRESS);

    private static final Logger LOG = LoggerFactory.getLogger(ActuatorService.class);
    private static final Duration BETWEEN_SAVES = Duration.ofSeconds(1);
    /** How long what a driver tells may lie. */
    private static final Duration BETWEEN_DEEDS = Duration.ofMillis(10);
    /** What a stop gives reports to be delivered. */
    private static final Duration LAST_REPORTS = Duration.ofSeconds(5);

    private final ActuatorSettings settings;
    private final Exchange exchange;
    private final Optional<VirtualTurns> virtual;
    private final Health health;
    private final MeterRegistry metrics;
    private final InstantSource wallClock;
    private final Optional<StateFile> file;

    private final Deque<PendingDecision> inbox = new ArrayDeque<>();
    private final Queue<DriverEvent> driverEvents = new ConcurrentLinkedQueue<>();
    private final Queue<TrainingProgress> said = new ConcurrentLinkedQueue<>();
    private final Inventory inventory = new Inventory(job -> actuation().home(job));
    private final Declarations<NodeId> nodesDeclared = new Declarations<>();
    private final Declarations<ServiceId> servicesDeclared = new Declarations<>();
    private final Declarations<JobId> jobsDeclared = new Declarations<>();
    private Optional<Driver> driver = Optional.empty();

    private Actuation actuation;
    private boolean joined;
    private boolean unsaved;
    /** Why the state cannot be written; empty while it can. */
    private Optional<String> unwritable = Optional.empty();

    private Instant savedAt = Instant.EPOCH;
    private Optional<Instant> stockedAt = Optional.empty();

    /**
     * An actuator between clients.
     *
     * @param virtual the time of an accelerated run, where it goes by that
     */
    ActuatorService(
            ActuatorSettings settings,
            Exchange exchange,
            Optional<VirtualTurns> virtual,
            Health health,
            MeterRegistry metrics,
            InstantSource wallClock) {
        this.settings = settings;
        this.exchange = exchange;
        this.virtual = virtual;
        this.health = health;
        this.metrics = metrics;
        this.wallClock = wallClock;
        this.file = settings.stateDir().map(StateFile::in);
        this.actuation = new Actuation(settings.name(), settings.leaseNotice(), settings.delays());
    }

    /** Whether an earlier run has left a state from which it can start without a broker. */
    static boolean canStartAlone(ActuatorSettings settings) {
        return settings.stateDir()
                .map(StateFile::in)
                .flatMap(StateFile::load)
                .filter(state -> state.actuator().equals(settings.name()))
                .filter(state -> !state.decisions().isEmpty())
                .isPresent();
    }

    /**
     * Remembers what it had done, and catches up with the topics, or starts without them.
     *
     * @param stopped whether to give up
     */
    void start(BooleanSupplier stopped) {
        health.notReady("catching up with the topics");
        ActuatorState state = file.flatMap(StateFile::load)
                .filter(found -> found.actuator().equals(settings.name()))
                .orElseGet(() -> ActuatorState.empty(settings.name()));
        actuation = Actuation.restore(settings.name(), settings.leaseNotice(), settings.delays(), state.actuation());
        virtual.ifPresent(turns -> turns.restore(state.answered()));
        state.alone().map(ActuatorState.Alone::known).ifPresent(this::restore);
        measure();
        exchange.start(state, this, stopped);
        if (stopped.getAsBoolean()) {
            return;
        }
        driver = settings.driven().map(driven -> driven.maker().make(inventory, driverListener()));
        boolean isSeen = driver.map(Driver::seesWhatRuns).orElse(false);
        actuation
                .resume(virtual.isPresent() ? actuation.clock() : wallClock.instant(), isSeen)
                .forEach(this::order);
        LOG.info(
                "{} {}: {} GPUs held, {} decisions to take, driver {}, {} time",
                settings.name(),
                joined ? "is ready" : "works without a broker",
                actuation.holdings().size(),
                inbox.size(),
                settings.driver().name().toLowerCase(Locale.ROOT) + (settings.dryRun() ? " (dry run)" : ""),
                virtual.isPresent() ? "virtual" : "wall");
        tellHealth();
    }

    private void restore(ActuatorState.Known known) {
        inventory.restore(known);
        known.nodes().forEach(actuation::know);
        known.jobs().forEach(actuation::know);
        known.services().forEach(actuation::know);
    }

    /** Reads, decides nothing, acts, reports. */
    void turn(Duration patience) {
        exchange.poll(patience(patience));
        tellHealth();
        if (virtual.isPresent()) {
            answerEnvironment(virtual.get());
        } else {
            act();
        }
        if (unsaved && Duration.between(savedAt, wallClock.instant()).compareTo(BETWEEN_SAVES) >= 0) {
            save();
        }
    }

    private void tellHealth() {
        Optional<String> trouble = exchange.trouble().or(() -> unwritable);
        if (trouble.isEmpty() && !joined) {
            health.notReady("catching up with the topics");
        } else {
            trouble.ifPresentOrElse(health::notReady, health::ready);
        }
    }

    /** Writes down what it has done; what runs, runs on. */
    void finish() {
        health.notReady("stopping");
        driver.ifPresent(Driver::close);
        if (!exchange.finish(LAST_REPORTS)) {
            LOG.warn(
                    "{} reports are not delivered{}",
                    exchange.unsent().reports().size(),
                    file.isPresent() ? "; they are kept for the next start" : "");
        }
        save();
    }

    private void order(Order order) {
        driver.ifPresent(each -> each.take(order));
    }

    private DriverListener driverListener() {
        return new DriverListener() {
            @Override
            public void tell(DriverEvent driverEvent) {
                driverEvents.add(driverEvent);
            }

            @Override
            public void tell(TrainingProgress progress) {
                said.add(progress);
            }
        };
    }

    /** What it has under way. */
    Actuation actuation() {
        return actuation;
    }

    private Duration patience(Duration most) {
        if (virtual.isPresent()) {
            return most;
        }
        if (driver.isPresent()) {
            return BETWEEN_DEEDS;
        }
        if (actuation.nextEventAt().isEmpty()) {
            return most;
        }
        Duration until =
                Duration.between(wallClock.instant(), actuation.nextEventAt().get());
        return until.isNegative() ? Duration.ZERO : until.compareTo(most) < 0 ? until.plusMillis(1) : most;
    }

    private void act() {
        Instant now = wallClock.instant().truncatedTo(ChronoUnit.MILLIS);
        var reports = new ArrayList<ActuationReport>();
        while (joined && !inbox.isEmpty()) {
            reports.addAll(take(inbox.removeFirst().decision(), now));
        }
        for (DriverEvent driverEvent = driverEvents.poll(); driverEvent != null; driverEvent = driverEvents.poll()) {
            reports.addAll(actuation.done(driverEvent, now));
        }
        reports.addAll(actuation.advance(now));
        boolean hasHappened = !reports.isEmpty();
        reports.addAll(stock(now));
        publish(reports);
        for (TrainingProgress progress = said.poll(); progress != null; progress = said.poll()) {
            exchange.publish(progress);
        }
        List<Order> orders = actuation.orders();
        // What was taken up, and what is reported, is on disk before anything comes of it.
        if (hasHappened || !orders.isEmpty()) {
            save();
        }
        exchange.release();
        orders.forEach(this::order);
    }

    /**
     * Not at once: what runs is known when drivers have answered to standing orders. Nor before the topics were read: the state may
     * be of before the last decisions.
     */
    private List<ActuationReport> stock(Instant now) {
        if (!joined) {
            return List.of();
        }
        Instant last = stockedAt.orElse(now);
        boolean isTime = !now.isBefore(last.plus(settings.stockEvery()));
        stockedAt = Optional.of(isTime ? now : last);
        return isTime ? actuation.stock() : List.of();
    }

    private void answerEnvironment(VirtualTurns turns) {
        Optional<Progress> due = turns.due(this::heardOf);
        if (due.isEmpty()) {
            return;
        }
        var reports = new ArrayList<ActuationReport>();
        var later = new ArrayList<PendingDecision>();
        for (PendingDecision pending : inbox) {
            if (turns.isTakeable(pending)) {
                reports.addAll(take(pending.decision(), turns.learned(pending.decision())));
            } else {
                later.add(pending);
            }
        }
        inbox.clear();
        inbox.addAll(later);
        reports.addAll(actuation.advance(due.get().eventTime()));
        publish(reports);
        turns.answer(due.get(), actuation.nextEventAt());
        unsaved = true;
    }

    /** Sequence of the last decision of a domain that it has read, in this life or an earlier one. */
    private long heardOf(DomainId domain) {
        long taken = actuation.latest(domain).map(DecisionId::sequence).orElse(0L);
        return inbox.stream()
                .map(pending -> pending.decision().id())
                .filter(id -> id.domain().equals(domain))
                .mapToLong(DecisionId::sequence)
                .reduce(taken, Math::max);
    }

    private List<ActuationReport> take(Decision decision, Instant learned) {
        if (settings.dryRun() && driver.isEmpty()) {
            LOG.info(
                    "would carry out {}: {} {}",
                    decision.id(),
                    decision.action(),
                    decision.reason().text());
        }
        unsaved = true;
        metrics.counter("lendstream.decisions", "kind", decision.action().kind())
                .increment();
        if (virtual.isEmpty()) {
            Duration delay = Duration.between(decision.at(), learned);
            metrics.timer("lendstream.decision.delay").record(delay.isNegative() ? Duration.ZERO : delay);
        }
        return actuation.take(decision, learned);
    }

    private void publish(List<ActuationReport> whole) {
        if (whole.isEmpty()) {
            return;
        }
        List<ActuationReport> reports =
                whole.stream().flatMap(report -> Parts.of(report).stream()).toList();
        exchange.publish(reports);
        for (ActuationReport report : reports) {
            metrics.counter(
                            "lendstream.reports",
                            "outcome",
                            report.outcome().name().toLowerCase(Locale.ROOT))
                    .increment();
            LOG.debug("{}", report);
        }
        unsaved = true;
    }

    @Override
    public void on(RecordReader reader, Executor to) {
        reader.handing(TopicCatalogue.NODES, received -> to.execute(() -> takeNode(received)))
                .handing(TopicCatalogue.SERVICES, received -> to.execute(() -> takeService(received)))
                .handing(TopicCatalogue.TRAINING_JOBS, received -> to.execute(() -> takeJob(received)))
                .handing(TopicCatalogue.DECISIONS, received -> to.execute(() -> takeDecision(received)));
        virtual.ifPresent(
                turns -> reader.handing(TopicCatalogue.PROGRESS, received -> to.execute(() -> turns.take(received))));
    }

    @Override
    public void joined(List<ActuationReport> reportsSince) {
        var recovery = new Recovery(reportsSince);
        var taken = new ArrayList<Decision>();
        var open = new ArrayDeque<PendingDecision>();
        for (PendingDecision pending : inbox) {
            if (recovery.wasTaken(pending.decision()) && open.isEmpty()) {
                taken.add(pending.decision());
            } else {
                open.add(pending);
            }
        }
        inbox.clear();
        inbox.addAll(open);
        joined = true;
        publish(recovery.replay(actuation, taken));
    }

    private void save() {
        unsaved = false;
        if (file.isPresent()) {
            Map<String, Long> decisions = exchange.decisions();
            inbox.forEach(pending ->
                    decisions.merge(pending.partition(), pending.origin().offset(), Math::min));
            ReportOutbox.Contents unsent = exchange.unsent();
            unsaved = !isSaved(
                    file.get(),
                    new ActuatorState(
                            settings.name(),
                            actuation.snapshot(),
                            decisions,
                            unsent.positions(),
                            virtual.flatMap(VirtualTurns::answered),
                            exchange.writer()
                                    .map(writer -> new ActuatorState.Alone(
                                            writer, unsent.reports(), inventory.concerning(actuation)))));
        }
        savedAt = wallClock.instant();
    }

    /**
     * Writes the state down, if that is possible. An actuator whose disk is full goes on: leases must end, and after a restart the
     * topics tell what the state does not. Only a report that was sent and not acknowledged before that restart may then be written
     * twice.
     */
    private boolean isSaved(StateFile to, ActuatorState state) {
        try {
            to.save(state);
        } catch (UncheckedIOException e) {
            String reason = "actuator.state-dir is %s, which cannot be written (%s); make room, or mend the disk"
                    .formatted(settings.stateDir().orElseThrow(), e.getCause().getMessage());
            if (!unwritable.equals(Optional.of(reason))) {
                LOG.error("{}. The actuator goes on without it and tries again every second.", reason);
            }
            unwritable = Optional.of(reason);
            return false;
        }
        unwritable.ifPresent(over -> LOG.info("the state can be written again"));
        unwritable = Optional.empty();
        return true;
    }

    private void measure() {
        metrics.gauge(
                "lendstream.gpus.held",
                this,
                service -> service.actuation.holdings().size());
        metrics.gauge(
                "lendstream.reports.waiting",
                this,
                service -> service.exchange.unsent().reports().size());
        for (Refusal refusal : Refusal.values()) {
            metrics.gauge(
                    "lendstream.refusals",
                    Tags.of("cause", refusal.name().toLowerCase(Locale.ROOT)),
                    this,
                    service -> service.actuation.refusals().getOrDefault(refusal, 0L));
        }
    }

    private void takeNode(Received<Node> received) {
        Optional<Node> node = received.value().filter(any -> settings.covers(any.domain()));
        NodeId id = received.value().map(Node::nodeId).orElseGet(() -> new NodeId(received.key()));
        nodesDeclared
                .note(received.origin().topic(), id, node.map(Node::domain))
                .ifPresent(domain -> {
                    inventory.forget(domain, id);
                    actuation.forget(domain, id);
                });
        node.ifPresent(known -> {
            actuation.know(known);
            inventory.know(known, gpu -> actuation.isOf(known.domain(), gpu));
        });
    }

    private void takeService(Received<InferenceService> received) {
        Optional<InferenceService> service = received.value().filter(any -> settings.covers(any.domain()));
        ServiceId id = received.value().map(InferenceService::service).orElseGet(() -> new ServiceId(received.key()));
        servicesDeclared
                .note(received.origin().topic(), id, service.map(InferenceService::domain))
                .ifPresent(domain -> {
                    inventory.forget(domain, id);
                    actuation.forget(domain, id);
                });
        service.ifPresent(known -> {
            inventory.know(known);
            actuation.know(known);
        });
    }

    private void takeJob(Received<TrainingJob> received) {
        Optional<TrainingJob> job = received.value().filter(any -> settings.covers(any.domain()));
        JobId id = received.value().map(TrainingJob::job).orElseGet(() -> new JobId(received.key()));
        jobsDeclared
                .note(received.origin().topic(), id, job.map(TrainingJob::domain))
                .ifPresent(domain -> {
                    inventory.forget(domain, id);
                    actuation.forget(domain, id);
                });
        job.ifPresent(known -> {
            inventory.know(known);
            actuation.know(known);
        });
    }

    private void takeDecision(Received<Decision> received) {
        received.value().ifPresent(decision -> {
            if (settings.covers(decision.id().domain())) {
                inbox.add(new PendingDecision(decision, received.origin()));
            }
        });
    }
}
