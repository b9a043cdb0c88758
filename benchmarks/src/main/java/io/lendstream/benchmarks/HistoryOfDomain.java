package io.lendstream.benchmarks;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.HeldSamples;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.scheduler.StepListener;
import io.lendstream.core.simulated.ChangeTiming;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiConsumer;

/**
 * The log of a domain in virtual time: nodes of eight GPUs that are sampled every second, services with reports every
 * 15 s and forecasts every minute, jobs with reports every 10 s, ticks, and an actuator that reports on each decision,
 * and on each GPU every minute. Samples that change nothing are held and summed up, as the scheduler's service does.
 */
final class HistoryOfDomain {
    static final Instant START = Instant.parse("2026-01-01T08:00:00Z");

    private static final int GPUS_PER_NODE = 8;
    private static final int GPUS_PER_SERVICE = 20;
    private static final double CAPACITY = 100;
    private static final Duration WINDOW = Duration.ofSeconds(15);
    private static final int FORECAST_SECONDS = 60;
    private static final int PROGRESS_SECONDS = 10;
    private static final int STOCK_SECONDS = 60;

    private final DomainId id = new DomainId("bench");
    private final Random random = new Random(1);
    private final Scheduler scheduler =
            new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
    private final SimulatedNodes nodes;
    private final Actuation actuation =
            new Actuation("bench", Duration.ofSeconds(45), new SimulatedDriver(change -> ChangeTiming.AT_ONCE));
    private final HeldSamples held;
    private final int services;
    private final int jobs;
    private final Deque<Event> inbox = new ArrayDeque<>();
    private final BiConsumer<DomainEvent, Step> to;
    private Optional<ClusterView> planned = Optional.empty();
    private final StepListener plans = new StepListener() {
        @Override
        public void planned(ClusterView view, Plan plan) {
            planned = Optional.of(view);
        }
    };

    private ClusterState state = ClusterState.empty(id);
    private Instant now = START;
    private int seconds;
    private long offset;

    /**
     * Declares a domain.
     *
     * @param hold time for which samples are held; zero if each is an event
     * @param to receives each event with the step that it led to
     */
    HistoryOfDomain(int gpus, int jobs, Duration hold, BiConsumer<DomainEvent, Step> to) {
        this.held = new HeldSamples(hold, scheduler.settings());
        this.jobs = jobs;
        this.services = gpus / GPUS_PER_SERVICE;
        this.to = to;
        int nodeCount = gpus / GPUS_PER_NODE;
        nodes = new SimulatedNodes(
                new SimulatedNodes.Layout(id, nodeCount, GPUS_PER_NODE, nodeCount / 2, 1),
                START,
                Duration.ofSeconds(1),
                "boot-0123456789abcdef");
        tell(scheduler.started(state, now));
        nodes.inventory().forEach(node -> {
            actuation.know(node);
            tell(node);
        });
        for (int i = 0; i < services; i++) {
            InferenceService service = service(i);
            actuation.know(service);
            tell(service);
        }
        for (int i = 0; i < jobs; i++) {
            TrainingJob job = job(i);
            actuation.know(job);
            tell(job);
        }
    }

    Scheduler scheduler() {
        return scheduler;
    }

    ClusterState state() {
        return state;
    }

    /** What the policy was shown for its last plan. */
    ClusterView planned() {
        return planned.orElseThrow();
    }

    /** Lets a second pass. */
    void second() {
        now = now.plusSeconds(1);
        seconds++;
        nodes.samplesUntil(now).forEach(this::tell);
        for (int i = 0; i < services; i++) {
            if ((seconds + i) % WINDOW.toSeconds() == 0) {
                tell(rate(i));
            }
            if ((seconds + i) % FORECAST_SECONDS == 0) {
                tell(forecast(i));
            }
        }
        for (int i = 0; i < jobs; i++) {
            if ((seconds + i) % PROGRESS_SECONDS == 0) {
                tell(progress(i));
            }
        }
        said(actuation.advance(now));
        if (seconds % STOCK_SECONDS == 0) {
            said(actuation.stock());
        }
        while (scheduler.nextTimer(state).filter(at -> !at.isAfter(now)).isPresent()) {
            Instant before = state.now();
            tell(new Tick(id, now));
            if (!state.now().isAfter(before)) {
                break;
            }
        }
    }

    private void said(List<ActuationReport> reports) {
        for (ActuationReport report : reports) {
            nodes.observe(report);
            tell(report);
        }
    }

    private void tell(Event event) {
        inbox.add(event);
        if (inbox.size() > 1) {
            return; // the event that is being taken goes first
        }
        while (!inbox.isEmpty()) {
            take(inbox.element());
            inbox.remove();
        }
    }

    private void take(Event event) {
        held.dueAt(id, now).forEach(this::step);
        if (!held.hold(scheduler, state, logged(event))) {
            held.before(event, now).forEach(this::step);
            step(event);
        }
    }

    private DomainEvent logged(Event event) {
        boolean isOwn = event.isTick()
                || event.asStarted().isPresent()
                || event.asSampleSummary().isPresent();
        return new DomainEvent(
                id,
                event.asStarted().map(started -> started.epoch()).orElse(state.epoch()),
                state.eventSequence() + 1,
                event.at(),
                isOwn ? Optional.empty() : Optional.of(new Origin("lendstream.gpu-telemetry", 3, offset++)),
                event);
    }

    private void step(Event event) {
        DomainEvent logged = logged(event);
        Step step = scheduler.step(state, logged, plans);
        state = step.state();
        to.accept(logged, step);
        for (Decision decision : step.decisions()) {
            nodes.observe(decision);
            said(actuation.take(decision, now));
        }
    }

    private ServiceId serviceName(int number) {
        return new ServiceId("service-%03d".formatted(number));
    }

    private InferenceService service(int number) {
        return new InferenceService(
                serviceName(number),
                id,
                now,
                List.of(),
                Duration.ofMillis(500),
                CAPACITY,
                Optional.empty(),
                1,
                Duration.ofSeconds(60));
    }

    /** Up and down in some minutes between one and seven replicas. */
    private RequestRate rate(int number) {
        double replicas = 4 + 3 * Math.sin((seconds + 40.0 * number) / 180) + random.nextDouble() / 2;
        return new RequestRate(
                serviceName(number),
                id,
                "gateway",
                "bench",
                seconds,
                now.minus(WINDOW),
                now,
                RequestRate.Requests.answered(Math.round(0.8 * replicas * CAPACITY * WINDOW.toSeconds())),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    private DemandForecast forecast(int number) {
        double level = CAPACITY * (2 + random.nextDouble());
        return new DemandForecast(
                serviceName(number),
                id,
                now,
                Duration.ofMinutes(1),
                "lendstream",
                List.of(
                        new HorizonQuantiles(Duration.ofMinutes(1), level, 1.1 * level, 1.2 * level, 1.3 * level),
                        new HorizonQuantiles(Duration.ofMinutes(5), level, 1.2 * level, 1.3 * level, 1.4 * level)),
                Optional.empty(),
                Optional.empty());
    }

    private JobId jobName(int number) {
        return new JobId("job-%04d".formatted(number));
    }

    private TrainingJob job(int number) {
        return new TrainingJob(
                jobName(number),
                id,
                now.minus(Duration.ofDays(1)),
                "bench",
                new TrainingJob.Scaling(GPUS_PER_NODE, 1, GPUS_PER_NODE, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 8192, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                                new GradientNoise(1, 10_000)),
                        new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3))),
                "simulated",
                Optional.empty());
    }

    private TrainingProgress progress(int number) {
        int gpus = state.jobs().get(jobName(number)).map(job -> job.gpus()).orElse(0);
        return new TrainingProgress(
                jobName(number),
                id,
                now,
                JobPhase.RUNNING,
                100L * seconds + random.nextInt(50),
                Optional.empty(),
                new TrainingProgress.Parallelism(1, Math.max(1, gpus), 32, 0),
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }
}
