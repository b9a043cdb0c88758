package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.cluster.ClusterState;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.Lease;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.BatchingDecision;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives a domain's events their order, feeds them to the core, and publishes the log, the decisions and the owners. */
final class DomainProcessor implements Processor<byte[], Arrival, byte[], byte[]> {
    private static final Logger log = LoggerFactory.getLogger(DomainProcessor.class);
    private static final Duration CLOCK_EVERY = Duration.ofSeconds(1);
    /** Ticks made in a row before other work gets its turn: a week of plans, a minute apart. */
    private static final int MOST_TICKS = 10_000;

    /** Events refused in a row after which they are no longer thought to be poison. */
    private static final int MOST_REFUSALS = 20;

    private static final String SERVICE = "scheduler";
    private static final String SOURCE = "/lendstream/scheduler";

    private final TopicCatalogue topics;
    private final SchedulerOptions options;
    private final InputReader reader;
    private final OutputWriter writer;
    private final SchedulerMetrics metrics;
    private final Barrier barrier;
    private final DomainGauges gauges;
    private final Turns turns;
    private SortedMap<DomainId, Domain> domains = new TreeMap<>();
    private @Nullable ProcessorContext<byte[], byte[]> context;
    private @Nullable DomainStore store;
    private @Nullable CommitPace commits;
    private boolean loaded;

    DomainProcessor(
            TopicCatalogue topics,
            SchedulerOptions options,
            InputReader reader,
            OutputWriter writer,
            SchedulerMetrics metrics) {
        this.topics = topics;
        this.options = options;
        this.reader = reader;
        this.writer = writer;
        this.metrics = metrics;
        this.gauges = metrics.gauges();
        this.turns = new Turns(options.scheduler().policy().planEvery());
        this.barrier =
                new Barrier(SchedulerTopology.sources(topics), options.awaitsForecasts(), options.forecastStep());
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> started) {
        context = started;
        store = new DomainStore(started.getStateStore(SchedulerTopology.DOMAINS));
        loaded = false;
        commits = new CommitPace(started);
        started.schedule(CLOCK_EVERY, PunctuationType.WALL_CLOCK_TIME, this::clockStruck);
    }

    @Override
    public void process(Record<byte[], Arrival> record) {
        load();
        Arrival arrival = record.value();
        DomainId id = new DomainId(new String(record.key(), UTF_8));
        Origin origin = arrival.passage().origin();
        Topic<?> topic = topics.find(origin.topic()).orElseThrow();
        Optional<Domain> known = Optional.ofNullable(domains.get(id));
        if (known.filter(domain -> domain.hasAccepted(origin)).isPresent()) {
            metrics.duplicate(topic.suffix());
            return;
        }
        Optional<Domain> domain = known;
        try {
            Input input = read(id, topic, arrival);
            domain = Optional.of(known.orElseGet(() -> begin(id)));
            domain.get().heard(Instant.ofEpochMilli(record.timestamp()), wallClock());
            take(domain.get(), input, origin, record.timestamp());
        } catch (Poison poison) {
            bury(id, topic, arrival, record.timestamp(), poison);
        }
        domain.ifPresent(ours -> accept(ours, origin, record.timestamp()));
    }

    private Domain begin(DomainId id) {
        Domain domain = new Domain(ClusterState.empty(id), wallClock());
        domains.put(id, domain);
        gauges.watch(domain);
        return domain;
    }

    private void accept(Domain domain, Origin origin, long arrived) {
        domain.accept(Domain.position(origin), origin.offset());
        store().savePosition(domain, Domain.position(origin), origin.offset());
        if (options.time() == TimeMode.VIRTUAL) {
            answerIfReached(domain, arrived);
        }
    }

    private void bury(DomainId id, Topic<?> topic, Arrival arrival, long timestamp, Poison poison) {
        Origin origin = arrival.passage().origin();
        log.warn("{} of domain {} goes to the dead letters: {}", origin, id, poison.getMessage());
        metrics.dead(topic.suffix(), poison.kind());
        Record<byte[], byte[]> asItCame = new Record<>(arrival.key(), arrival.value(), timestamp);
        context().forward(DeadLetter.of(origin, asItCame, poison), SchedulerTopology.DEAD_EVENT);
    }

    private Input read(DomainId domain, Topic<?> topic, Arrival arrival) throws Poison {
        if (arrival.passage().left().isPresent()) {
            Passage.Left left = arrival.passage().left().get();
            return new Input.Happened(new NodeLeft(left.node(), domain, left.at()));
        }
        return arrival.input().isPresent() ? arrival.input().get() : reader.read(topic, arrival.value(), wallClock());
    }

    private void take(Domain domain, Input input, Origin origin, long arrived) throws Poison {
        if (input instanceof Input.GotOn got) {
            domain.progress(got.progress());
            store().saveProgress(domain.id(), got.progress());
            return;
        }
        Event event = ((Input.Happened) input).event();
        Instant at = notAhead(event.at());
        takeOffice(domain, at, arrived);
        if (options.time() == TimeMode.WALL) {
            tickUpTo(domain, at, arrived);
        } else if (event instanceof RequestRate rate) {
            noteFirstWindow(domain, rate);
        }
        try {
            apply(domain, event, Optional.of(origin), arrived);
        } catch (RefusedException e) {
            countRefusal(domain, e);
            throw new Poison(Poison.Kind.REFUSED, e.failure);
        }
    }

    /** A record whose writer's clock is ahead of ours moves no domain's time, and no deadline with it, beyond our own clock. */
    private Instant notAhead(Instant at) {
        return options.time() == TimeMode.WALL && at.isAfter(wallClock()) ? wallClock() : at;
    }

    /** One event that the core cannot take is poison. If it takes none at all the fault is not in the events. */
    private static void countRefusal(Domain domain, RefusedException refusal) {
        if (domain.refused() > MOST_REFUSALS) {
            throw new IllegalStateException(
                    ("the core refused %d events of domain %s in a row, so the fault is in its state or in this version, not in"
                                    + " the events. They are kept. Start a version that can go on.")
                            .formatted(MOST_REFUSALS, domain.id()),
                    refusal.failure);
        }
    }

    private void noteFirstWindow(Domain domain, RequestRate rate) {
        ServiceId service = rate.service();
        boolean earlier = domain.firstWindow(service)
                .map(start -> rate.windowStart().isBefore(start))
                .orElse(true);
        if (earlier) {
            domain.firstWindow(service, rate.windowStart());
            store().saveFirstWindow(domain.id(), service, rate.windowStart());
        }
    }

    /** Raises the domain's epoch, the first time that this task has to do with it. */
    private void takeOffice(Domain domain, Instant at, long arrived) {
        if (domain.inOffice()) {
            return;
        }
        Instant now = domain.state().now();
        boolean isBehind = options.time() == TimeMode.WALL && domain.isBehind();
        Scheduler scheduler = options.scheduler().decidingFrom(isBehind ? Optional.of(wallClock()) : Optional.empty());
        if (options.time() == TimeMode.WALL) {
            scheduler = scheduler.planningAt(turns.next());
        }
        SchedulerStarted started = scheduler.started(domain.state(), at.isAfter(now) ? at : now);
        apply(domain, scheduler, started, Optional.empty(), arrived);
        domain.takeOffice(scheduler);
        log.info(
                "domain {} is ours, in epoch {} from event {}{}",
                domain.id(),
                started.epoch(),
                domain.state().eventSequence(),
                isBehind ? "; of what waited, nothing is decided" : "");
    }

    /** Lets everything happen that is due by itself up to a time. */
    private void tickUpTo(Domain domain, Instant now, long arrived) {
        Instant last = Instant.MIN;
        for (int ticks = 0; ticks < MOST_TICKS; ticks++) {
            Optional<Instant> timer = nextTimer(domain);
            if (timer.isEmpty() || timer.get().isAfter(now)) {
                return;
            }
            Instant at = timer.get().isAfter(domain.state().now())
                    ? timer.get()
                    : domain.state().now();
            if (!at.isAfter(last)) {
                if (!now.isAfter(last)) {
                    return;
                }
                at = now;
            }
            try {
                apply(domain, new Tick(domain.id(), at), Optional.empty(), arrived);
            } catch (RefusedException e) {
                if (domain.standsStillAt(at)) {
                    log.error(
                            "the core refused a tick of domain {} at {}; its time stands still",
                            domain.id(),
                            at,
                            e.failure);
                }
                return;
            }
            last = at;
        }
        log.warn("domain {} is {} ticks behind; more are made with the next event", domain.id(), MOST_TICKS);
    }

    /** In whole milliseconds, rounded up: the log keeps no more, and a tick must not come too early. */
    private Optional<Instant> nextTimer(Domain domain) {
        return domain.scheduler().nextTimer(domain.state()).map(timer -> {
            Instant whole = timer.truncatedTo(ChronoUnit.MILLIS);
            return whole.equals(timer) ? whole : whole.plusMillis(1);
        });
    }

    private void apply(Domain domain, Event event, Optional<Origin> origin, long arrived) {
        apply(domain, domain.scheduler(), event, origin, arrived);
    }

    private void apply(Domain domain, Scheduler scheduler, Event event, Optional<Origin> origin, long arrived) {
        ClusterState before = domain.state();
        long epoch = event instanceof SchedulerStarted started ? started.epoch() : before.epoch();
        DomainEvent logged =
                new DomainEvent(domain.id(), epoch, before.eventSequence() + 1, notAhead(event.at()), origin, event);
        Step step = step(scheduler, before, logged);
        domain.state(step.state());
        publish(domain, logged, step, arrived);
        store().save(domain, step.changed(), origin.isPresent());
        if (!step.decisions().isEmpty()) {
            commits().decided(event instanceof RequestRate);
        }
        domain.worked();
        metrics.accepted(event);
        if (event instanceof ActuationReport report && report.outcome() == Outcome.HOLDS) {
            tellDrift(report, step);
        }
    }

    private void tellDrift(ActuationReport report, Step step) {
        Set<GpuId> drifted = new TreeSet<>(report.gpus());
        drifted.retainAll(step.changed().owners());
        if (!drifted.isEmpty()) {
            metrics.drifted(drifted.size());
            log.warn(
                    "ownership drift in domain {}: actuator {} finds {} running on {}, which is not what was decided; {}",
                    report.domain(),
                    report.actuator(),
                    report.tenant().map(Tenant::toString).orElse("nothing"),
                    drifted,
                    report.tenant().isPresent() ? "out of service until `lendstream reset GPU`" : "free again");
        }
    }

    private Step step(Scheduler scheduler, ClusterState before, DomainEvent event) {
        long start = System.nanoTime();
        try {
            return scheduler.step(before, event);
        } catch (RuntimeException e) {
            throw new RefusedException(e);
        } finally {
            metrics.stepTime().record(Duration.ofNanos(System.nanoTime() - start));
        }
    }

    private void publish(Domain domain, DomainEvent event, Step step, long arrived) {
        byte[] key = domain.id().value().getBytes(UTF_8);
        forward(
                TopicCatalogue.DOMAIN_EVENTS,
                key,
                event,
                domain.id() + "/" + event.sequence(),
                event.at(),
                arrived,
                SchedulerTopology.EVENT_LOG);
        for (Decision decision : step.decisions()) {
            forward(
                    TopicCatalogue.DECISIONS,
                    key,
                    decision,
                    decision.id().toString(),
                    decision.at(),
                    arrived,
                    SchedulerTopology.DECISIONS);
            metrics.decided(decision, Duration.ofMillis(context().currentSystemTimeMs() - arrived));
            if (decision.action() instanceof Action.Batching batching && !decision.advisory()) {
                forward(
                        TopicCatalogue.BATCHING_DECISIONS,
                        batching.service().value().getBytes(UTF_8),
                        BatchingDecision.of(decision, batching),
                        decision.id().toString(),
                        decision.at(),
                        arrived,
                        SchedulerTopology.BATCHING);
            }
        }
        for (GpuId gpu : step.changed().owners()) {
            Optional<Lease> lease = step.state().gpus().get(gpu).map(state -> lease(state, step.state()));
            forward(
                    TopicCatalogue.LEASES,
                    gpu.value().getBytes(UTF_8),
                    lease.orElse(null),
                    gpu + "/" + event.sequence(),
                    event.at(),
                    arrived,
                    SchedulerTopology.LEASES);
        }
    }

    private static Lease lease(GpuState gpu, ClusterState state) {
        return gpu.lease(state.domain(), state.epoch());
    }

    private <T> void forward(
            Topic<T> topic, byte[] key, @Nullable T value, String id, Instant at, long timestamp, String sink) {
        CloudEventHeaders headers = new CloudEventHeaders(id, SOURCE, "io.lendstream." + topic.recordName(), at);
        byte[] bytes = value == null ? null : writer.write(topic, value);
        context().forward(new Record<byte[], byte[]>(key, bytes, timestamp, headers.toHeaders()), sink);
    }

    private void clockStruck(long wallClockMillis) {
        load();
        Instant now = Instant.ofEpochMilli(wallClockMillis);
        for (Domain domain : domains.values()) {
            if (options.time() == TimeMode.VIRTUAL) {
                answerIfReached(domain, wallClockMillis);
            } else if (domain.isUpToDate(now)) {
                takeOffice(domain, now, wallClockMillis);
                tickUpTo(domain, now, wallClockMillis);
            }
        }
    }

    private void answerIfReached(Domain domain, long arrived) {
        Optional<Instant> reached = barrier.reached(domain);
        if (reached.isEmpty() || awaitsForecast(domain)) {
            return;
        }
        domain.awaitingForecastSince(Optional.empty());
        Instant upTo = reached.get();
        takeOffice(domain, upTo, arrived);
        tickUpTo(domain, upTo, arrived);
        domain.answered(reached);
        store().saveHeader(domain);
        Progress answer = new Progress(
                SERVICE,
                domain.id(),
                upTo,
                Map.of(Progress.DECISIONS, domain.state().decisionSequence()),
                nextTimer(domain));
        forward(
                TopicCatalogue.PROGRESS,
                SERVICE.getBytes(UTF_8),
                answer,
                domain.id() + "/" + upTo,
                upTo,
                arrived,
                SchedulerTopology.PROGRESS);
        commits().commit();
    }

    private boolean awaitsForecast(Domain domain) {
        Optional<ServiceId> missing = barrier.missingForecast(domain);
        if (missing.isEmpty()) {
            return false;
        }
        Instant now = wallClock();
        if (domain.awaitingForecastSince().isEmpty()) {
            domain.awaitingForecastSince(Optional.of(now));
        }
        Instant until = domain.awaitingForecastSince().get().plus(options.forecastPatience());
        if (now.isBefore(until)) {
            return true;
        }
        metrics.wentOnWithoutForecast();
        log.warn(
                "domain {} goes on without a forecast of service {}: none came within scheduler.forecast-patience ({}). Is the forecaster running? With scheduler.forecaster=none nobody waits for it.",
                domain.id(),
                missing.get(),
                options.forecastPatience());
        return false;
    }

    /** Not in {@code init}: only now the store certainly has all that it will be restored to. */
    private void load() {
        if (!loaded) {
            domains = store().load(wallClock());
            domains.values().forEach(gauges::watch);
            loaded = true;
        }
    }

    @Override
    public void close() {
        gauges.close();
    }

    private Instant wallClock() {
        return Instant.ofEpochMilli(context().currentSystemTimeMs());
    }

    private ProcessorContext<byte[], byte[]> context() {
        ProcessorContext<byte[], byte[]> started = context;
        if (started == null) {
            throw new IllegalStateException("the processor was not started");
        }
        return started;
    }

    private CommitPace commits() {
        CommitPace pace = commits;
        if (pace == null) {
            throw new IllegalStateException("the processor was not started");
        }
        return pace;
    }

    private DomainStore store() {
        DomainStore opened = store;
        if (opened == null) {
            throw new IllegalStateException("the processor was not started");
        }
        return opened;
    }

    /** The core threw up on an event: a bug, or an event that nobody thought of. Nothing was changed by it. */
    private static final class RefusedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final RuntimeException failure;

        RefusedException(RuntimeException failure) {
            super(failure);
            this.failure = failure;
        }
    }
}
