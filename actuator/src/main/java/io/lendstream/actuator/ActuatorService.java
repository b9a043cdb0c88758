package io.lendstream.actuator;

import io.lendstream.actuator.driver.Device;
import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.Ear;
import io.lendstream.actuator.driver.Surroundings;
import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Deed;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.actuation.Refusal;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.time.VirtualClock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The actuator at work, in turns: reads what has arrived, takes decisions up, reports what is done.
 *
 * <p>By the machine's clock it takes decisions up as they come. In an accelerated run it answers each time that the
 * environment names, once it has read everything that the scheduler, the agent and the environment had written by their
 * last answers, and takes up exactly the decisions among it: so the run comes out the same however fast its services are.
 */
final class ActuatorService {
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
    private static final String NAME = "actuator";
    private static final String SCHEDULER = "scheduler";
    private static final List<String> OTHERS = List.of(SCHEDULER, "agent");
    private static final Duration BETWEEN_SAVES = Duration.ofSeconds(1);
    /** How long what a driver tells may lie. */
    private static final Duration BETWEEN_DEEDS = Duration.ofMillis(10);

    private final ActuatorSettings settings;
    private final RecordReader reader;
    private final RecordWriter writer;
    private final Supplier<RecordReader> reportReaders;
    private final Health health;
    private final MeterRegistry metrics;
    private final InstantSource wallClock;
    private final boolean virtual;
    private final Optional<StateFile> file;

    private final Deque<Pending> inbox = new ArrayDeque<>();
    private final Map<String, Long> takeable = new HashMap<>();
    /** Sequence of the last decision that the scheduler has answered with, by domain. */
    private final Map<DomainId, Long> decided = new HashMap<>();

    private final Queue<Deed> deeds = new ConcurrentLinkedQueue<>();
    private final Queue<TrainingProgress> said = new ConcurrentLinkedQueue<>();
    private final Map<GpuId, Device> devices = new HashMap<>();
    private final Map<JobId, TrainingJob> jobs = new HashMap<>();
    private Optional<Driver> driver = Optional.empty();

    private final Map<String, Long> reportsBefore = new TreeMap<>();
    private Actuation actuation;
    private VirtualClock clock = new VirtualClock(Optional.empty());
    private boolean unsaved;
    private Instant savedAt = Instant.EPOCH;
    private Optional<Instant> stockedAt = Optional.empty();

    private record Pending(Decision decision, Origin origin) {
        String partition() {
            return origin.topic() + "-" + origin.partition();
        }
    }

    /**
     * An actuator between clients.
     *
     * @param reportReaders gives a reader of its own reports, which it closes
     * @param virtual whether it goes by the time of an accelerated run
     */
    ActuatorService(
            ActuatorSettings settings,
            RecordReader reader,
            RecordWriter writer,
            Supplier<RecordReader> reportReaders,
            Health health,
            MeterRegistry metrics,
            InstantSource wallClock,
            boolean virtual) {
        this.settings = settings;
        this.reader = reader;
        this.writer = writer;
        this.reportReaders = reportReaders;
        this.health = health;
        this.metrics = metrics;
        this.wallClock = wallClock;
        this.virtual = virtual;
        this.file = settings.stateDir().map(StateFile::in);
        this.actuation = new Actuation(settings.name(), settings.leaseNotice(), settings.delays());
    }

    /**
     * Remembers what it had done, and catches up with the topics.
     *
     * @param stopped whether to give up
     */
    void start(BooleanSupplier stopped) {
        health.notReady("catching up with the topics");
        ActuatorState state = file.flatMap(StateFile::load)
                .filter(found -> found.actuator().equals(settings.name()))
                .orElseGet(() -> ActuatorState.empty(settings.name()));
        actuation = Actuation.restore(settings.name(), settings.leaseNotice(), settings.delays(), state.actuation());
        clock = new VirtualClock(state.answered());
        reader.handing(TopicCatalogue.NODES, this::takeNode)
                .handing(TopicCatalogue.SERVICES, this::takeService)
                .handing(TopicCatalogue.TRAINING_JOBS, this::takeJob)
                .handing(TopicCatalogue.PROGRESS, this::takeProgress)
                .handing(TopicCatalogue.DECISIONS, this::takeDecision);
        reader.start(state.decisions());
        readAll(reader, stopped);
        List<ActuationReport> reports = ownReports(state.reports(), stopped);
        if (stopped.getAsBoolean()) {
            return;
        }
        recover(new Recovery(reports));
        driver = settings.driven().map(driven -> driven.maker().make(surroundings(), ear()));
        boolean isSeen = driver.map(Driver::seesWhatRuns).orElse(false);
        actuation
                .resume(virtual ? actuation.clock() : wallClock.instant(), isSeen)
                .forEach(this::order);
        measure();
        LOG.info(
                "{} is ready: {} GPUs held, {} decisions to take, driver {}, {} time",
                settings.name(),
                actuation.holdings().size(),
                inbox.size(),
                settings.driver().name().toLowerCase(Locale.ROOT) + (settings.dryRun() ? " (dry run)" : ""),
                virtual ? "virtual" : "wall");
        health.ready();
    }

    /** Reads, decides nothing, acts, reports. */
    void turn(Duration patience) {
        reader.poll(patience(patience));
        reader.trouble().ifPresentOrElse(health::notReady, health::ready);
        if (virtual) {
            answerEnvironment();
        } else {
            act();
        }
        if (unsaved && Duration.between(savedAt, wallClock.instant()).compareTo(BETWEEN_SAVES) >= 0) {
            save();
        }
    }

    /** Writes down what it has done; what runs, runs on. */
    void finish() {
        health.notReady("stopping");
        driver.ifPresent(Driver::close);
        writer.flush();
        save();
    }

    private void order(Order order) {
        driver.ifPresent(each -> each.take(order));
    }

    private Ear ear() {
        return new Ear() {
            @Override
            public void tell(Deed deed) {
                deeds.add(deed);
            }

            @Override
            public void tell(TrainingProgress progress) {
                said.add(progress);
            }
        };
    }

    private Surroundings surroundings() {
        return new Surroundings() {
            @Override
            public Optional<TrainingJob> job(JobId job) {
                return Optional.ofNullable(jobs.get(job));
            }

            @Override
            public Optional<Device> device(GpuId unit) {
                return Optional.ofNullable(devices.get(unit));
            }
        };
    }

    /** What it has under way. */
    Actuation actuation() {
        return actuation;
    }

    private Duration patience(Duration most) {
        if (virtual) {
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
        while (!inbox.isEmpty()) {
            reports.addAll(take(inbox.removeFirst().decision, now));
        }
        for (Deed deed = deeds.poll(); deed != null; deed = deeds.poll()) {
            reports.addAll(actuation.done(deed, now));
        }
        reports.addAll(actuation.advance(now));
        reports.addAll(stock(now));
        publish(reports);
        for (TrainingProgress progress = said.poll(); progress != null; progress = said.poll()) {
            writer.write(TopicCatalogue.TRAINING_PROGRESS, progress.job().value(), progress);
        }
        carryOut(actuation.orders());
    }

    /** Not at once: what runs is known when drivers have answered to standing orders. */
    private List<ActuationReport> stock(Instant now) {
        Instant last = stockedAt.orElse(now);
        boolean isTime = !now.isBefore(last.plus(settings.stockEvery()));
        stockedAt = Optional.of(isTime ? now : last);
        return isTime ? actuation.stock() : List.of();
    }

    /** What was taken up is on disk before anything is done about it. */
    private void carryOut(List<Order> orders) {
        if (!orders.isEmpty()) {
            save();
            orders.forEach(this::order);
        }
    }

    private void answerEnvironment() {
        Optional<Progress> due = clock.due();
        if (due.isEmpty() || !hasHeardEverything(due.get())) {
            return;
        }
        Instant time = due.get().eventTime();
        var reports = new ArrayList<ActuationReport>();
        var later = new ArrayList<Pending>();
        for (Pending pending : inbox) {
            if (!isTakeable(pending)) {
                later.add(pending);
                continue;
            }
            Instant learned = clock.answered()
                    .filter(answered -> answered.isAfter(pending.decision.at()))
                    .orElse(pending.decision.at());
            reports.addAll(take(pending.decision, learned));
        }
        inbox.clear();
        inbox.addAll(later);
        reports.addAll(actuation.advance(time));
        publish(reports);
        writer.flush();
        clock.answer(time);
        writer.write(
                TopicCatalogue.PROGRESS,
                NAME,
                new Progress(NAME, due.get().domain(), time, writer.positions(), actuation.nextEventAt()));
        writer.flush();
        unsaved = true;
    }

    private boolean hasHeardEverything(Progress environment) {
        for (String other : OTHERS) {
            if (!clock.isLevelWith(other)
                    || !reader.hasRead(clock.of(other).map(Progress::positions).orElse(Map.of()))) {
                return false;
            }
        }
        DomainId domain = environment.domain();
        return heardOf(domain) >= decided.getOrDefault(domain, 0L) && reader.hasRead(environment.positions());
    }

    /** Sequence of the last decision of a domain that it has read, in this life or an earlier one. */
    private long heardOf(DomainId domain) {
        long taken = actuation.latest(domain).map(DecisionId::sequence).orElse(0L);
        return inbox.stream()
                .map(pending -> pending.decision.id())
                .filter(id -> id.domain().equals(domain))
                .mapToLong(DecisionId::sequence)
                .reduce(taken, Math::max);
    }

    /** Whether the scheduler's answers reach to a decision: what it made since belongs to a later time. */
    private boolean isTakeable(Pending pending) {
        DecisionId id = pending.decision.id();
        return id.sequence() <= decided.getOrDefault(id.domain(), 0L)
                || pending.origin.offset() < takeable.getOrDefault(pending.partition(), 0L);
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
        if (!virtual) {
            Duration delay = Duration.between(decision.at(), learned);
            metrics.timer("lendstream.decision.delay").record(delay.isNegative() ? Duration.ZERO : delay);
        }
        return actuation.take(decision, learned);
    }

    private void publish(List<ActuationReport> reports) {
        if (reports.isEmpty()) {
            return;
        }
        for (ActuationReport report : reports) {
            writer.write(TopicCatalogue.ACTUATION_REPORTS, report.domain().value(), report);
            metrics.counter(
                            "lendstream.reports",
                            "outcome",
                            report.outcome().name().toLowerCase(Locale.ROOT))
                    .increment();
            LOG.debug("{}", report);
        }
        writer.flush();
        unsaved = true;
    }

    private void recover(Recovery recovery) {
        var taken = new ArrayList<Decision>();
        var open = new ArrayDeque<Pending>();
        for (Pending pending : inbox) {
            if (recovery.wasTaken(pending.decision) && open.isEmpty()) {
                taken.add(pending.decision);
            } else {
                open.add(pending);
            }
        }
        inbox.clear();
        inbox.addAll(open);
        publish(recovery.replay(actuation, taken));
    }

    private List<ActuationReport> ownReports(Map<String, Long> since, BooleanSupplier stopped) {
        var own = new ArrayList<ActuationReport>();
        try (RecordReader reports = reportReaders.get()) {
            reports.handing(
                    TopicCatalogue.ACTUATION_REPORTS,
                    received -> received.value()
                            .filter(report ->
                                    report.actuator().equals(settings.name()) && report.outcome() != Outcome.HOLDS)
                            .ifPresent(own::add));
            reports.start(since);
            readAll(reports, stopped);
            reportsBefore.putAll(reports.positions());
        }
        own.sort(Comparator.comparing(ActuationReport::at));
        return own;
    }

    private static void readAll(RecordReader topics, BooleanSupplier stopped) {
        while (!topics.hasCaughtUp() && !stopped.getAsBoolean()) {
            topics.poll(Duration.ofMillis(200));
        }
    }

    private void save() {
        if (file.isPresent()) {
            Map<String, Long> decisions = reader.positions(TopicCatalogue.DECISIONS);
            inbox.forEach(pending -> decisions.merge(pending.partition(), pending.origin.offset(), Math::min));
            var reports = new TreeMap<>(reportsBefore);
            writer.positions().forEach((partition, end) -> {
                if (reportsBefore.containsKey(partition)) {
                    reports.merge(partition, end, Math::max);
                }
            });
            file.get()
                    .save(new ActuatorState(
                            settings.name(), actuation.snapshot(), decisions, reports, clock.answered()));
        }
        unsaved = false;
        savedAt = wallClock.instant();
    }

    private void measure() {
        metrics.gauge(
                "lendstream.gpus.held",
                this,
                service -> service.actuation.holdings().size());
        for (Refusal refusal : Refusal.values()) {
            metrics.gauge(
                    "lendstream.refusals",
                    Tags.of("cause", refusal.name().toLowerCase(Locale.ROOT)),
                    this,
                    service -> service.actuation.refusals().getOrDefault(refusal, 0L));
        }
    }

    private void takeNode(Received<Node> received) {
        received.value()
                .filter(node -> settings.covers(node.domain()))
                .ifPresentOrElse(this::know, () -> actuation.forget(new NodeId(received.key())));
    }

    private void takeService(Received<InferenceService> received) {
        received.value().ifPresentOrElse(actuation::know, () -> actuation.forget(new ServiceId(received.key())));
    }

    private void takeJob(Received<TrainingJob> received) {
        received.value().ifPresentOrElse(this::know, () -> {
            jobs.remove(new JobId(received.key()));
            actuation.forget(new JobId(received.key()));
        });
    }

    private void know(Node node) {
        for (Gpu gpu : node.gpus()) {
            devices.put(gpu.gpuId(), Device.of(gpu));
            gpu.instances().forEach(each -> devices.put(each.gpuId(), Device.of(gpu, each)));
        }
        actuation.know(node);
    }

    private void know(TrainingJob job) {
        jobs.put(job.job(), job);
        actuation.know(job);
    }

    private void takeDecision(Received<Decision> received) {
        received.value().ifPresent(decision -> {
            DomainId domain = decision.id().domain();
            if (settings.covers(domain)) {
                inbox.add(new Pending(decision, received.origin()));
            }
        });
    }

    private void takeProgress(Received<Progress> received) {
        received.value().ifPresent(progress -> {
            clock.take(progress);
            if (progress.service().equals(SCHEDULER)) {
                progress.positions().forEach((partition, end) -> takeable.merge(partition, end, Math::max));
                decided.merge(progress.domain(), progress.positions().getOrDefault(Progress.DECISIONS, 0L), Math::max);
            }
        });
    }
}
