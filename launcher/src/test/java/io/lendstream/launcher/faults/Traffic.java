package io.lendstream.launcher.faults;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A small cluster as its agents, gateways and jobs tell of it, by the wall clock: four services, each with a wave of demand in
 * its turn and a ripple on it, so that several decisions are called for every second; and jobs that come and go. Twelve GPUs of
 * inference are needed at most, and twenty are there; jobs want twelve at least, and four are theirs: so there is something to
 * lend always, and a wave that begins finds it lent.
 */
final class Traffic implements AutoCloseable {
    private static final Duration BEAT = Duration.ofMillis(250);
    private static final int SERVICES = 4;
    private static final int WAVE_BEATS = 40;
    private static final int NODES = 6;
    private static final int JOBS = 6;
    private static final int CALM_PER_SECOND = 5;

    private final RecordWriter writer;
    private final Random random;
    private final Disorder disorder;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final Deque<JobId> running = new ArrayDeque<>();
    private final List<Runnable> late = new ArrayList<>();
    private Optional<Throwable> failure = Optional.empty();
    private volatile Duration clockOffset = Duration.ZERO;
    private volatile boolean paused;
    private long beats;
    private long jobs;

    /**
     * What becomes of telemetry on its way.
     *
     * @param repeated share that is written twice
     * @param late share that is written a few seconds after what follows it
     * @param skewed share whose clock is two minutes off, this way or that
     */
    record Disorder(double repeated, double late, double skewed) {
        static final Disorder NONE = new Disorder(0, 0, 0);
    }

    private Traffic(Site site, long seed, Disorder disorder) {
        this.writer = RecordWriter.open(site.kafka(), site.topics(), "/test/traffic");
        this.random = new Random(seed);
        this.disorder = disorder;
    }

    static Traffic start(Site site, long seed, Disorder disorder) {
        Traffic traffic = new Traffic(site, seed, disorder);
        traffic.describe();
        var unused = traffic.thread.scheduleAtFixedRate(traffic::beat, 0, BEAT.toMillis(), TimeUnit.MILLISECONDS);
        return traffic;
    }

    private void describe() {
        nodes().forEach(node -> writer.write(TopicCatalogue.NODES, node.nodeId().value(), node));
        for (int i = 0; i < SERVICES; i++) {
            InferenceService service = new InferenceService(
                    service(i),
                    Site.DOMAIN,
                    now(),
                    List.of(),
                    Duration.ofMillis(500),
                    10,
                    Optional.empty(),
                    1,
                    Duration.ofSeconds(3));
            writer.write(TopicCatalogue.SERVICES, service.service().value(), service);
        }
        writer.flush();
    }

    private List<Node> nodes() {
        return IntStream.range(0, NODES)
                .mapToObj(node -> new Node(
                        new NodeId("node-" + node),
                        Site.DOMAIN,
                        node == 0 ? Pool.TRAINING : Pool.INFERENCE,
                        "boot",
                        now(),
                        NodeStatus.READY,
                        IntStream.range(0, 4)
                                .mapToObj(gpu -> Gpu.whole(
                                        new GpuId("gpu-%d-%d".formatted(node, gpu)), gpu, "test GPU", 80L << 30))
                                .toList()))
                .toList();
    }

    private static ServiceId service(int number) {
        return new ServiceId("service-" + number);
    }

    /** From now on its clock is wrong by this much; positive where it is ahead. */
    void setClockOffset(Duration offset) {
        clockOffset = offset;
    }

    /** Writes nothing until {@link #resume}: gateways and agents whose broker is away and that keep nothing for it. */
    void pause() {
        paused = true;
    }

    void resume() {
        paused = false;
    }

    private void beat() {
        if (paused) {
            return;
        }
        try {
            beats++;
            for (int i = 0; i < SERVICES; i++) {
                if ((beats + i) % 2 == 0) {
                    rate(i);
                }
            }
            if (beats % 8 == 0) {
                nodes().forEach(this::sample);
                IntStream.range(0, SERVICES).forEach(this::forecast);
                running.forEach(job -> progress(job, JobPhase.RUNNING));
            }
            if (beats % 12 == 0) {
                job();
            }
            if (beats % 20 == 0) {
                List<Runnable> due = List.copyOf(late);
                late.clear();
                due.forEach(Runnable::run);
            }
            writer.flush();
        } catch (RuntimeException | Error e) {
            failure = Optional.of(e);
            throw e;
        }
    }

    /** A wave of ten seconds in turn, a ripple of half a second always. Of shorter windows no rate would be taken. */
    private void rate(int service) {
        boolean wave = (beats / WAVE_BEATS) % SERVICES == service;
        boolean ripple = (beats / 2) % 2 == 0;
        int perSecond = (wave ? 35 : CALM_PER_SECOND) + (ripple ? 10 : 0);
        Instant end = stamped(now());
        RequestRate rate = new RequestRate(
                service(service),
                Site.DOMAIN,
                "gateway",
                "boot",
                beats,
                end.minusSeconds(5),
                end,
                RequestRate.Requests.answered(5L * perSecond),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
        telemetry(TopicCatalogue.REQUEST_RATES, service(service).value(), rate);
    }

    /** Of a forecaster that knows of no waves: so they come as a surprise, and GPUs are lent between them. */
    private void forecast(int service) {
        var calm = new HorizonQuantiles(
                Duration.ofMinutes(1), CALM_PER_SECOND, CALM_PER_SECOND, CALM_PER_SECOND, CALM_PER_SECOND);
        DemandForecast forecast = new DemandForecast(
                service(service),
                Site.DOMAIN,
                stamped(now()),
                Duration.ofSeconds(5),
                "calm",
                List.of(calm),
                Optional.empty(),
                Optional.empty());
        telemetry(TopicCatalogue.DEMAND_FORECASTS, service(service).value(), forecast);
    }

    private void sample(Node node) {
        telemetry(
                TopicCatalogue.GPU_TELEMETRY,
                node.nodeId().value(),
                new GpuTelemetry(node.nodeId(), Site.DOMAIN, "boot", beats, stamped(now()), List.of()));
    }

    private <T> void telemetry(Topic<T> topic, String key, T value) {
        if (random.nextDouble() < disorder.late()) {
            late.add(() -> writer.write(topic, key, value));
            return;
        }
        writer.write(topic, key, value);
        if (random.nextDouble() < disorder.repeated()) {
            writer.write(topic, key, value);
        }
    }

    private Instant stamped(Instant time) {
        return random.nextDouble() < disorder.skewed() ? time.plusSeconds(random.nextBoolean() ? 120 : -120) : time;
    }

    private void job() {
        if (running.size() >= JOBS) {
            progress(running.removeFirst(), JobPhase.FINISHED);
        }
        jobs++;
        TrainingJob job = new TrainingJob(
                new JobId("job-" + jobs),
                Site.DOMAIN,
                now(),
                "vision",
                new TrainingJob.Scaling(2 + random.nextInt(3), 2, 6, true),
                TrainingJob.Precedence.USUAL,
                Site.TRAITS,
                "simulated",
                Optional.empty());
        running.addLast(job.job());
        writer.write(TopicCatalogue.TRAINING_JOBS, job.job().value(), job);
    }

    private void progress(JobId job, JobPhase phase) {
        writer.write(
                TopicCatalogue.TRAINING_PROGRESS,
                job.value(),
                new TrainingProgress(
                        job,
                        Site.DOMAIN,
                        now(),
                        phase,
                        beats,
                        Optional.empty(),
                        TrainingProgress.Parallelism.NONE,
                        TrainingProgress.StepTiming.NOT_MEASURED,
                        TrainingProgress.GradientStatistics.NOT_MEASURED));
    }

    /** Resets GPUs that were out of service. */
    void reset(List<GpuId> gpus) {
        thread.execute(() -> {
            writer.write(
                    TopicCatalogue.CONTROL,
                    Site.DOMAIN.value(),
                    new ControlCommand(
                            Site.DOMAIN,
                            "reset-" + beats,
                            now(),
                            "test",
                            ControlCommand.Kind.RESET,
                            Optional.empty(),
                            gpus,
                            "nothing runs there"));
        });
    }

    private Instant now() {
        return Instant.now().plus(clockOffset).truncatedTo(ChronoUnit.MILLIS);
    }

    /** Ends; fails where it could not write. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            thread.awaitTermination(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        writer.close();
        failure.ifPresent(cause -> {
            throw new AssertionError("the traffic broke off", cause);
        });
    }
}
