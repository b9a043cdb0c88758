package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.OwnerState;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A small domain in virtual time on a real broker: the test is its environment (gateway and agents) and its actuator. It
 * writes the records of one window at a time, and waits until the scheduler has decided about them. So no record of a
 * later time exists when a decision is made, however slow the machine is.
 *
 * <p>One service, and one job that can use all GPUs: {@value #OWN} of the training pool, {@value #POOL} of the inference
 * pool.
 */
final class VirtualDomain implements AutoCloseable {
    static final int POOL = 4;
    static final int OWN = 2;
    static final Duration NOTICE = Duration.ofSeconds(45);
    static final Duration WARM_UP = Duration.ofSeconds(40);
    /** Requests per second of a replica, of which 85 % may be used. */
    static final int REPLICA = 10;
    /** The forecast step that the forecaster has by default. */
    static final Duration STEP = Duration.ofMinutes(1);

    private static final Duration WINDOW = Duration.ofSeconds(15);
    private static final Duration WINDOW_OF_HISTORY = Duration.ofMinutes(5);
    private static final Duration POLL = Duration.ofMillis(20);
    /** The job needs half of its notice to leave GPUs. */
    private static final Duration RELEASE = Duration.ofSeconds(20);

    private final Deployment deployment;
    private final DomainId domain;
    private final ServiceId service;
    private final JobId job;
    private final RecordWriter writer;
    private final RecordReader reader;
    private final Actuation actuation;
    private final List<ActuationReport> unsent = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private final List<DemandForecast> forecasts = new ArrayList<>();
    private final List<ActuationReport> reports = new ArrayList<>();
    private final Map<GpuId, Owner> owners = new TreeMap<>();
    /** End of the forecasts of this domain in each partition. */
    private final Map<String, Long> forecastEnds = new TreeMap<>();

    private Optional<Progress> answer = Optional.empty();
    private Instant now;
    private long windows;
    private boolean hasForecaster;

    /** @param start the virtual time at which it begins, a whole number of steps */
    VirtualDomain(Deployment deployment, String name, Instant start) {
        this.deployment = deployment;
        this.domain = new DomainId(name);
        this.service = new ServiceId("chat-" + name);
        this.job = new JobId("job-" + name);
        this.now = start;
        SimulatedDelays usual = SimulatedDelays.realistic();
        this.actuation = new Actuation(
                "test",
                NOTICE,
                new SimulatedDriver(new SimulatedDelays(
                        RELEASE,
                        usual.restartRelease(),
                        usual.bind(),
                        usual.drain(),
                        usual.addsUp(),
                        0,
                        SimulatedDelays.FailureRates.NONE,
                        0)));
        this.writer = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/test/" + name);
        this.reader = deployment
                .reader()
                .handing(TopicCatalogue.DECISIONS, received -> received.value().ifPresent(this::decided))
                .handing(TopicCatalogue.DEMAND_FORECASTS, this::forecast)
                .handing(
                        TopicCatalogue.ACTUATION_REPORTS,
                        received -> received.value()
                                .filter(report -> report.domain().equals(domain))
                                .ifPresent(reports::add))
                .handing(
                        TopicCatalogue.LEASES,
                        received -> received.value()
                                .filter(lease -> lease.domain().equals(domain))
                                .ifPresent(lease -> owners.put(lease.gpuId(), lease.owner())))
                .handing(
                        TopicCatalogue.PROGRESS,
                        received -> received.value()
                                .filter(progress -> progress.domain().equals(domain))
                                .filter(progress -> progress.isOf(ServiceName.SCHEDULER))
                                .ifPresent(progress -> answer = Optional.of(progress)));
        reader.start(Map.of());
    }

    private void decided(Decision decision) {
        boolean isNew = decision.id().domain().equals(domain)
                && decisions.stream().noneMatch(known -> known.id().equals(decision.id()));
        if (isNew) {
            decisions.add(decision);
        }
    }

    private void forecast(Received<DemandForecast> received) {
        received.value().filter(forecast -> forecast.domain().equals(domain)).ifPresent(forecast -> {
            forecasts.add(forecast);
            forecastEnds.merge(
                    received.origin().topic() + "-" + received.origin().partition(),
                    received.origin().offset() + 1,
                    Math::max);
        });
    }

    ServiceId service() {
        return service;
    }

    Instant now() {
        return now;
    }

    List<Decision> decisions() {
        return List.copyOf(decisions);
    }

    /** What the actuator has reported, as it is in the topic. */
    List<ActuationReport> reports() {
        return List.copyOf(reports);
    }

    /** The last forecast that was read; there must be one. */
    DemandForecast lastForecast() {
        assertThat(forecasts).as("forecasts of %s", service).isNotEmpty();
        return forecasts.get(forecasts.size() - 1);
    }

    /** The accepted events that a decision names as its inputs, as they are in the log. */
    List<DomainEvent> inputs(Decision decision) {
        return deployment.read(TopicCatalogue.DOMAIN_EVENTS).stream()
                .filter(event -> event.domain().equals(domain)
                        && decision.reason().inputs().contains(event.sequence()))
                .toList();
    }

    /** From now on a forecaster runs: each step waits for its forecast. */
    void forecasterRuns(boolean runs) {
        hasForecaster = runs;
    }

    /**
     * Writes the request rates of the time before it begins, and waits until the forecaster has read them.
     *
     * @param perSecond requests per second at a time
     */
    void remember(Duration past, ToDoubleFunction<Instant> perSecond) {
        long sequence = 0;
        for (Instant start = now.minus(past); start.isBefore(now); start = start.plus(WINDOW_OF_HISTORY)) {
            rate("history", ++sequence, start, start.plus(WINDOW_OF_HISTORY), perSecond.applyAsDouble(start));
        }
        writer.flush();
        awaitForecast(now);
    }

    /** Declares nodes, service and job. */
    void begin() {
        node("train", Pool.TRAINING, OWN);
        node("infer", Pool.INFERENCE, POOL);
        InferenceService chat = new InferenceService(
                service, domain, now, List.of(), Duration.ofMillis(400), REPLICA, Optional.empty(), 1, WARM_UP);
        writer.write(TopicCatalogue.SERVICES, service.value(), chat);
        actuation.know(chat);
        TrainingJob training = new TrainingJob(
                job,
                domain,
                now,
                "vision",
                new TrainingJob.Scaling(OWN, 1, OWN + POOL, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                                new GradientNoise(1, 1000)),
                        new RescaleCosts(Duration.ofSeconds(2), Duration.ofSeconds(1))),
                "simulated",
                Optional.empty());
        writer.write(TopicCatalogue.TRAINING_JOBS, job.value(), training);
        actuation.know(training);
        announce();
    }

    private void node(String pool, Pool kind, int gpus) {
        NodeId id = new NodeId(pool + "-" + domain);
        Node node = new Node(
                id,
                domain,
                kind,
                "boot",
                now,
                NodeStatus.READY,
                IntStream.range(0, gpus)
                        .mapToObj(gpu -> Gpu.whole(new GpuId(id + "-" + gpu), gpu, "test GPU", 80L << 30))
                        .toList());
        writer.write(TopicCatalogue.NODES, id.value(), node);
        actuation.know(node);
    }

    /** Passes windows with this demand until a time. */
    void pass(Instant until, double perSecond) {
        while (now.isBefore(until)) {
            window(perSecond);
        }
    }

    /** Passes windows with this demand until there is a decision of a sort, which must be made by a time. */
    Decision passUntil(String what, Predicate<Decision> wanted, Instant latest, double perSecond) {
        int known = decisions.size();
        while (true) {
            Optional<Decision> found =
                    decisions.stream().skip(known).filter(wanted).findFirst();
            if (found.isPresent()) {
                return found.get();
            }
            if (!now.isBefore(latest)) {
                throw new AssertionError("no %s until %s%n%s".formatted(what, latest, summary()));
            }
            window(perSecond);
        }
    }

    /** Waits until the topic of owners has so many GPUs in a state. */
    void awaitOwners(OwnerState state, int count) {
        poll(
                "%d GPUs are %s".formatted(count, state),
                () -> owners.values().stream()
                                .filter(owner -> owner.state() == state)
                                .count()
                        == count);
    }

    /** Writes a forecast of constant demand by hand: all quantiles are alike. */
    void forecast(Instant issuedAt, double perSecond) {
        writer.write(
                TopicCatalogue.DEMAND_FORECASTS,
                service.value(),
                new DemandForecast(
                        service,
                        domain,
                        issuedAt,
                        STEP,
                        "by-hand",
                        List.of(constant(1, perSecond), constant(5, perSecond), constant(15, perSecond)),
                        Optional.empty(),
                        Optional.empty()));
    }

    private static HorizonQuantiles constant(int minutes, double perSecond) {
        return new HorizonQuantiles(Duration.ofMinutes(minutes), perSecond, perSecond, perSecond, perSecond);
    }

    /** A window of rates, a sample of each node, and what the actuator has done meanwhile. */
    private void window(double perSecond) {
        Instant end = now.plus(WINDOW);
        unsent.addAll(actuation.advance(end));
        unsent.forEach(report -> writer.write(TopicCatalogue.ACTUATION_REPORTS, domain.value(), report));
        unsent.clear();
        windows++;
        for (String pool : List.of("train", "infer")) {
            NodeId node = new NodeId(pool + "-" + domain);
            writer.write(
                    TopicCatalogue.GPU_TELEMETRY,
                    node.value(),
                    new GpuTelemetry(node, domain, "boot", windows, end, List.of()));
        }
        rate("live", windows, now, end, perSecond);
        writer.flush();
        now = end;
        if (hasForecaster && now.toEpochMilli() % STEP.toMillis() == 0) {
            awaitForecast(now);
        }
        announce();
    }

    private void rate(String boot, long sequence, Instant start, Instant end, double perSecond) {
        long arrivals = Math.round(perSecond * Duration.between(start, end).toSeconds());
        writer.write(
                TopicCatalogue.REQUEST_RATES,
                service.value(),
                new RequestRate(
                        service,
                        domain,
                        "gateway",
                        boot,
                        sequence,
                        start,
                        end,
                        RequestRate.Requests.answered(arrivals),
                        RequestRate.Latency.NOT_MEASURED,
                        List.of(),
                        List.of()));
    }

    private void awaitForecast(Instant issuedAt) {
        poll(
                "the forecast of " + issuedAt,
                () -> forecasts.stream()
                        .anyMatch(forecast -> forecast.issuedAt().equals(issuedAt)));
    }

    /** Publishes the time, and waits until the scheduler has decided about all records until then. */
    private void announce() {
        writer.flush();
        Map<String, Long> positions = new TreeMap<>(writer.positions());
        forecastEnds.forEach((partition, end) -> positions.merge(partition, end, Math::max));
        for (ServiceName played : List.of(ServiceName.ENVIRONMENT, ServiceName.ACTUATOR)) {
            writer.write(
                    TopicCatalogue.PROGRESS,
                    played.toString(),
                    Progress.of(played, domain, now, positions, Optional.empty()));
        }
        writer.flush();
        int known = decisions.size();
        poll(
                "the scheduler's answer to " + now,
                () -> answer.filter(last -> !last.eventTime().isBefore(now))
                        .filter(last -> decisions.size() >= last.positions().getOrDefault(Progress.DECISIONS, 0L))
                        .isPresent());
        decisions.stream().skip(known).forEach(decision -> unsent.addAll(actuation.take(decision, now)));
    }

    private void poll(String what, Callable<Boolean> isSo) {
        try {
            await().pollInSameThread()
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(Deployment.PATIENCE)
                    .until(() -> {
                        boolean is = isSo.call();
                        if (!is) {
                            reader.poll(POLL);
                        }
                        return is;
                    });
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("not within %s: %s%n%s".formatted(Deployment.PATIENCE, what, summary()), e);
        }
    }

    /** What is known, for the message of a failure. */
    private String summary() {
        StringBuilder text = new StringBuilder("at %s in domain %s%n".formatted(now, domain));
        decisions.forEach(decision -> text.append("%s %s %s: %s%n"
                .formatted(
                        decision.at(),
                        decision.action().kind(),
                        decision.reason().code(),
                        decision.reason().text())));
        text.append("owners %s%n".formatted(owners));
        text.append("last forecast %s".formatted(forecasts.isEmpty() ? "none" : lastForecast()));
        return text.toString();
    }

    @Override
    public void close() {
        writer.close();
        reader.close();
    }
}
