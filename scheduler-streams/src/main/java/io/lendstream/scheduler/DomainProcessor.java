package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Orders a domain's events, feeds them to the core, and publishes the log, the decisions and the ownership. */
final class DomainProcessor implements Processor<byte[], RoutedRecord, byte[], byte[]> {
    private static final Logger log = LoggerFactory.getLogger(DomainProcessor.class);
    private static final Duration CLOCK_EVERY = Duration.ofSeconds(1);

    private final TopicCatalogue topics;
    private final SchedulerOptions options;
    private final InputReader reader;
    private final OutputWriter writer;
    private final StepEncoder encoder;
    private final SchedulerMetrics metrics;
    private final Barrier barrier;
    private final DomainGauges gauges;
    private final PlanPhases turns;
    private final PacedLog refusals = new PacedLog(log);
    private SortedMap<DomainId, Domain> domains = new TreeMap<>();
    private @Nullable ProcessorContext<byte[], byte[]> context;
    private @Nullable DomainStore store;
    private @Nullable CommitPace commits;
    private @Nullable StepRunner stepRunner;
    private @Nullable DomainRunner runner;
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
        this.encoder = new StepEncoder(writer);
        this.metrics = metrics;
        this.gauges = metrics.gauges();
        this.turns = new PlanPhases(options.scheduler().policy().planEvery());
        this.barrier =
                new Barrier(SchedulerTopology.sources(topics), options.awaitsForecasts(), options.forecastStep());
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> started) {
        context = started;
        DomainStore opened =
                new DomainStore(started.getStateStore(SchedulerTopology.DOMAINS), metrics, writer.mostBytes());
        CommitPace pace = new CommitPace(started);
        Snapshots snapshots = new Snapshots(options.snapshots(), encoder, metrics);
        StepRunner events = new StepRunner(started, opened, encoder, snapshots, pace, metrics);
        store = opened;
        loaded = false;
        commits = pace;
        stepRunner = events;
        runner = new DomainRunner(options, events, metrics.condition(), turns, this::wallClock);
        started.schedule(CLOCK_EVERY, PunctuationType.WALL_CLOCK_TIME, this::clockStruck);
    }

    @Override
    public void process(Record<byte[], RoutedRecord> record) {
        load();
        RoutedRecord arrival = record.value();
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
            domain = Optional.of(known.isPresent() ? known.get() : begin(id));
            domain.get().heard(Instant.ofEpochMilli(record.timestamp()), wallClock());
            take(domain.get(), input, origin, record.timestamp());
            gauges.watch(domain.get());
            metrics.taken(wallClock());
        } catch (Poison poison) {
            bury(id, topic, arrival, record.timestamp(), poison);
        }
        domain.ifPresent(ours -> accept(ours, origin, record.timestamp()));
    }

    private Domain begin(DomainId id) throws Poison {
        options.limits().checkDomains(domains.size(), id);
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

    private void bury(DomainId id, Topic<?> topic, RoutedRecord arrival, long timestamp, Poison poison) {
        Origin origin = arrival.passage().origin();
        refusals.warn(
                wallClock(),
                "%s of domain %s was written to the dead letters: %s".formatted(origin, id, poison.getMessage()));
        metrics.dead(topic.suffix(), poison, wallClock());
        Record<byte[], byte[]> asItCame = new Record<>(arrival.key(), arrival.value(), timestamp);
        context().forward(DeadLetter.of(origin, asItCame, poison), SchedulerTopology.DEAD_EVENT);
        commits().owed();
    }

    private Input read(DomainId domain, Topic<?> topic, RoutedRecord arrival) throws Poison {
        if (arrival.passage().left().isPresent()) {
            RoutingHeaders.Left left = arrival.passage().left().get();
            return new Input.Happened(new NodeLeft(left.node(), domain, left.at()));
        }
        if (arrival.input().isPresent()) {
            return arrival.input().get();
        }
        byte[] value = Objects.requireNonNull(arrival.value(), "a record without a value that removes no node");
        return reader.read(topic, value, wallClock());
    }

    private void take(Domain domain, Input input, Origin origin, long arrived) throws Poison {
        if (input instanceof Input.GotOn got) {
            domain.progress(got.progress());
            store().saveProgress(domain.id(), got.progress());
            return;
        }
        Event event = ((Input.Happened) input).event();
        if (options.time() == TimeMode.VIRTUAL) {
            event.asRate().ifPresent(rate -> noteFirstWindow(domain, rate));
        }
        runner().take(domain, event, origin, arrived);
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

    private void clockStruck(long wallClockMillis) {
        load();
        stepRunner().rest();
        Instant now = Instant.ofEpochMilli(wallClockMillis);
        for (Domain domain : domains.values()) {
            if (options.time() == TimeMode.VIRTUAL) {
                answerIfReached(domain, wallClockMillis);
            } else if (domain.isUpToDate(now)) {
                runner().moveTo(domain, now, wallClockMillis);
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
        runner().moveTo(domain, upTo, arrived);
        domain.answered(reached);
        store().saveHeader(domain);
        stepRunner().publish(List.of(answer(domain, upTo, arrived)));
        commits().commit();
    }

    /** Includes stopped domains, so that the time of other domains does not wait for them. */
    private StepEncoder.Output answer(Domain domain, Instant upTo, long arrived) {
        Optional<Instant> next = Optional.empty();
        try {
            if (domain.inOffice()) {
                next = runner().nextTimer(domain);
            }
        } catch (RefusedException e) {
            log.warn("cannot determine when domain {} next needs a tick", domain.id(), e.getCause());
        }
        Progress answer = Progress.of(
                ServiceName.SCHEDULER,
                domain.id(),
                upTo,
                Map.of(Progress.DECISIONS, domain.state().decisionSequence()),
                next);
        return encoder.encode(
                TopicCatalogue.PROGRESS,
                ServiceName.SCHEDULER.toString().getBytes(UTF_8),
                answer,
                domain.id() + "/" + upTo,
                upTo,
                arrived,
                SchedulerTopology.PROGRESS);
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
                "domain {} continues without a forecast of service {}: none arrived within scheduler.forecast-patience ({}). Check that the forecaster is running, or set scheduler.forecaster=none for a run without it.",
                domain.id(),
                missing.get(),
                options.forecastPatience());
        return false;
    }

    /** Not done in {@code init}: the store is only certain to be fully restored now. */
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
        domains.keySet().forEach(metrics.condition()::notStopped);
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

    private StepRunner stepRunner() {
        StepRunner events = stepRunner;
        if (events == null) {
            throw new IllegalStateException("the processor was not started");
        }
        return events;
    }

    private DomainRunner runner() {
        DomainRunner started = runner;
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
}
