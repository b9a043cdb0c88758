package io.lendstream.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Course;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.BatchRange;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.stack.Installation;
import io.lendstream.launcher.stack.Jvm;
import io.lendstream.launcher.stack.Ports;
import io.lendstream.launcher.stack.Readiness;
import io.lendstream.launcher.stack.RunningChild;
import io.lendstream.launcher.stack.ServiceKind;
import io.lendstream.launcher.stack.Stack;
import io.lendstream.launcher.stack.StackSettings;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.CommonKeys;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Settings;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * A scheduler, as a process, with a broker, and all that it has to hear: nodes' samples and request rates at a steady pace, an
 * actuator that does everything at once, and spikes. A spike raises the rate of a service by what one replica answers, when every
 * GPU that is not needed is on loan, so that its record calls for a reclaim; in between, a record is written and read that nobody
 * looks at. All times count from when a record was to be written, whether the writer was in time or not.
 */
final class SchedulerLoad implements AutoCloseable {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final String BARE = "bench-bare";
    private static final int GPUS_PER_NODE = 8;
    private static final int STEADY = 100;
    private static final int SPIKING = 50;
    private static final Duration WINDOW = Duration.ofSeconds(15);
    /** Requests per second that one replica answers, and that a spike adds: one replica's, as long as there are at most 80. */
    private static final double CAPACITY = 1000;

    private static final int PER_SPIKE = 840;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Plan plan;
    private final Stack stack;
    private final RunningChild scheduler;
    private final KafkaSettings kafka;
    private final RecordWriter writer;
    private final List<Domain> domains = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong sent = new AtomicLong();
    private final Map<String, Long> spikes = new ConcurrentHashMap<>();
    private final Map<Long, Long> bares = new ConcurrentHashMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Optional<Throwable> failure = Optional.empty();
    private volatile boolean counts;
    private volatile Samples samples = new Samples();
    private long nextSpike;
    private long sequence;

    /**
     * What is to be scheduled, and how.
     *
     * @param gpus of each domain
     * @param samplesPerSecond records of nodes, eight GPUs each, over all domains
     * @param ratesPerSecond records of request rates, over all domains
     */
    record Plan(
            int domains,
            int gpus,
            double samplesPerSecond,
            double ratesPerSecond,
            String guarantee,
            int commitMillis,
            int heapMegabytes) {
        Plan at(double samples) {
            return new Plan(domains, gpus, samples, ratesPerSecond, guarantee, commitMillis, heapMegabytes);
        }
    }

    /** Milliseconds from a record to what was read of it. */
    static final class Samples {
        final List<Double> reclaims = new ArrayList<>();
        final List<Double> bare = new ArrayList<>();
        int answeredOtherwise;
    }

    private static final class Domain {
        final DomainId id;
        final SimulatedNodes nodes;
        final Actuation actuation = new Actuation("bench", Duration.ofSeconds(45), change -> Course.AT_ONCE);
        final int[] needed = new int[SPIKING];
        final AtomicInteger lent = new AtomicInteger();

        Domain(DomainId id, SimulatedNodes nodes) {
            this.id = id;
            this.nodes = nodes;
        }

        ServiceId spiking(int number) {
            return new ServiceId("%s-spiking-%02d".formatted(id, number));
        }

        ServiceId steady(int number) {
            return new ServiceId("%s-steady-%02d".formatted(id, number));
        }
    }

    SchedulerLoad(Plan plan) {
        this.plan = plan;
        this.stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {});
        this.kafka = KafkaSettings.of(
                "bench",
                Settings.of(
                        CommonKeys.ALL,
                        "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                        "schema.registry.url=" + stack.confluentUrl(),
                        "kafka.producer.linger.ms=0"));
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, TOPICS).create(1, (short) 1);
            admin.createTopics(List.of(new NewTopic(BARE, 1, (short) 1))).all().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException(e);
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), TOPICS).register();
        this.scheduler = startScheduler();
        this.writer = RecordWriter.open(kafka, TOPICS, "/lendstream/bench");
        for (int i = 0; i < plan.domains; i++) {
            domains.add(domain(i));
        }
    }

    private RunningChild startScheduler() {
        int port = Ports.free();
        RunningChild child = stack.start(ServiceKind.SCHEDULER
                .child(stack.installation())
                .withJvm(Jvm.thorough(plan.heapMegabytes))
                .withArguments(
                        "--bootstrap-server",
                        stack.bootstrapServers(),
                        "--registry",
                        stack.confluentUrl().toString(),
                        "--set",
                        "health.port=" + port,
                        "--set",
                        "kafka.processing.guarantee=" + plan.guarantee,
                        "--set",
                        "kafka.commit.interval.ms=" + plan.commitMillis,
                        "--set",
                        "scheduler.policy=lendstream:plan-every=10s:protect-scale=0",
                        "--set",
                        "scheduler.max-loans-per-minute=1000000",
                        "--set",
                        "scheduler.max-transfers=1000000",
                        "--set",
                        "scheduler.min-hold=1s",
                        "--set",
                        "kafka.state.dir=" + stack.dataDirectory().resolve("state")));
        stack.awaitReady(child, Readiness.http(URI.create("http://127.0.0.1:" + port + "/health/ready")), PATIENCE);
        return child;
    }

    private Domain domain(int number) {
        DomainId id = new DomainId("bench-%02d".formatted(number));
        var layout = new SimulatedNodes.Layout(id, plan.gpus / GPUS_PER_NODE, GPUS_PER_NODE, 0, number);
        var domain = new Domain(id, new SimulatedNodes(layout, now(), Duration.ofMinutes(1), "bench"));
        for (Node node : domain.nodes.inventory()) {
            domain.actuation.know(node);
            writer.write(TopicCatalogue.NODES, node.nodeId().value(), node);
        }
        for (int i = 0; i < STEADY; i++) {
            service(domain, domain.steady(i), 1);
        }
        for (int i = 0; i < SPIKING; i++) {
            service(domain, domain.spiking(i), 0);
        }
        for (int i = 0; i < plan.gpus / GPUS_PER_NODE; i++) {
            TrainingJob job = job(id, i);
            domain.actuation.know(job);
            writer.write(TopicCatalogue.TRAINING_JOBS, job.job().value(), job);
        }
        return domain;
    }

    private void service(Domain domain, ServiceId id, int floor) {
        var service = new InferenceService(
                id,
                domain.id,
                now(),
                List.of(),
                Duration.ofMillis(500),
                CAPACITY,
                Optional.empty(),
                floor,
                Duration.ofSeconds(60));
        domain.actuation.know(service);
        writer.write(TopicCatalogue.SERVICES, id.value(), service);
    }

    private static DemandForecast nothing(DomainId domain, ServiceId service) {
        return new DemandForecast(
                service,
                domain,
                now(),
                Duration.ofMinutes(1),
                "bench",
                List.of(new HorizonQuantiles(Duration.ofHours(1), 0, 0, 0, 0)),
                Optional.empty(),
                Optional.empty());
    }

    private static TrainingJob job(DomainId domain, int number) {
        return new TrainingJob(
                new JobId("%s-job-%04d".formatted(domain, number)),
                domain,
                now(),
                "bench",
                GPUS_PER_NODE,
                1,
                GPUS_PER_NODE,
                true,
                0,
                Optional.empty(),
                new BatchRange(128, 8192, 32, 1024, Optional.empty()),
                new GoodputProfile(
                        new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                        new GradientNoise(1, 10_000)),
                new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3)),
                "simulated",
                Optional.empty());
    }

    /** Starts the load. */
    void start() {
        background("decisions", this::carryOut);
        background("samples", this::sample);
        background("rates", this::rate);
        background("beats", this::beat);
        background("progress", this::progress);
    }

    private void background(String name, Runnable work) {
        var thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException | Error e) {
                        failure = Optional.of(e);
                    }
                },
                "bench-" + name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    /** Nodes' samples at their pace. */
    private void sample() {
        List<GpuTelemetry> usual = new ArrayList<>();
        for (Domain domain : domains) {
            usual.addAll(domain.nodes.sampleNow(now()));
        }
        long[] sequences = new long[usual.size()];
        try (RecordWriter own = RecordWriter.open(kafka, TOPICS, "/lendstream/bench")) {
            pace(plan.samplesPerSecond, i -> {
                int at = (int) (i % usual.size());
                GpuTelemetry one = usual.get(at);
                own.write(
                        TopicCatalogue.GPU_TELEMETRY,
                        one.nodeId().value(),
                        new GpuTelemetry(one.nodeId(), one.domain(), one.bootId(), ++sequences[at], now(), one.gpus()));
            });
        }
    }

    /** Request rates at their pace, once a second by each of as many sources as that takes. */
    private void rate() {
        long sources = Math.max((long) STEADY * domains.size(), Math.round(plan.ratesPerSecond));
        long steady = (long) STEADY * domains.size();
        double each = 0.6 * CAPACITY * WINDOW.toSeconds() * steady / sources;
        try (RecordWriter own = RecordWriter.open(kafka, TOPICS, "/lendstream/bench")) {
            pace(plan.ratesPerSecond, i -> {
                long source = i % sources;
                Domain domain = domains.get((int) (source % domains.size()));
                ServiceId service = domain.steady((int) (source / domains.size() % STEADY));
                own.write(
                        TopicCatalogue.REQUEST_RATES,
                        service.value(),
                        window(domain, service, "source-" + source, i, Math.round(each)));
            });
        }
    }

    /** Says of services that have no requests that they have none, and that none are expected. */
    private void beat() {
        int services = SPIKING * domains.size();
        try (RecordWriter own = RecordWriter.open(kafka, TOPICS, "/lendstream/bench")) {
            pace(services / (WINDOW.toSeconds() / 2.0), i -> {
                Domain domain = domains.get((int) (i % domains.size()));
                ServiceId service = domain.spiking((int) (i / domains.size() % SPIKING));
                own.write(TopicCatalogue.REQUEST_RATES, service.value(), window(domain, service, "beat", i, 0));
                own.write(TopicCatalogue.DEMAND_FORECASTS, service.value(), nothing(domain.id, service));
            });
        }
    }

    /** Says of jobs that they train, and that they have run on a whole node before, up to which they may grow at once. */
    private void progress() {
        int jobs = plan.gpus / GPUS_PER_NODE * domains.size();
        try (RecordWriter own = RecordWriter.open(kafka, TOPICS, "/lendstream/bench")) {
            pace(jobs / 10.0, i -> {
                DomainId domain = domains.get((int) (i % domains.size())).id;
                JobId job = job(domain, (int) (i % jobs / domains.size())).job();
                own.write(
                        TopicCatalogue.TRAINING_PROGRESS,
                        job.value(),
                        new TrainingProgress(
                                job,
                                domain,
                                now(),
                                JobPhase.RUNNING,
                                i,
                                Optional.empty(),
                                1,
                                GPUS_PER_NODE,
                                32,
                                0,
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty()));
            });
        }
    }

    private interface Sender {
        void send(long number);
    }

    private void pace(double perSecond, Sender sender) {
        if (perSecond <= 0) {
            return;
        }
        long began = System.nanoTime();
        for (long i = 0; !over.get(); ) {
            long due = (long) ((System.nanoTime() - began) / 1e9 * perSecond);
            for (; i < due; i++) {
                sender.send(i);
                sent.incrementAndGet();
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static RequestRate window(Domain domain, ServiceId service, String source, long sequence, long arrivals) {
        Instant end = now();
        return new RequestRate(
                service,
                domain.id,
                source,
                "bench",
                sequence,
                end.minus(WINDOW),
                end,
                arrivals,
                arrivals,
                0,
                0,
                Optional.empty(),
                Optional.empty(),
                List.of());
    }

    /** Reads decisions and says that they are carried out; notes how old those are that spikes wait for. */
    private void carryOut() {
        Deserializer<org.apache.avro.generic.GenericRecord> deserializer = SerdeFactory.of(kafka.serdes())
                .reading(Codecs.readerSchemas(TOPICS))
                .deserializer();
        String decisions = TOPICS.name(TopicCatalogue.DECISIONS);
        Map<DomainId, Domain> byId = new TreeMap<>();
        domains.forEach(domain -> byId.put(domain.id, domain));
        try (var consumer = new KafkaConsumer<byte[], byte[]>(kafka.consumer());
                RecordWriter own = RecordWriter.open(kafka, TOPICS, "/lendstream/bench")) {
            consumer.assign(List.of(new TopicPartition(decisions, 0), new TopicPartition(BARE, 0)));
            consumer.seekToBeginning(consumer.assignment());
            while (!over.get()) {
                var records = consumer.poll(Duration.ofMillis(100));
                long nanos = System.nanoTime();
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (record.topic().equals(BARE)) {
                        readBare(ByteBuffer.wrap(record.key()).getLong(), nanos);
                    } else {
                        Decision decision = Codecs.decode(
                                TopicCatalogue.DECISIONS,
                                deserializer.deserialize(record.topic(), record.headers(), record.value()));
                        read(decision, nanos);
                        Domain domain = byId.get(decision.id().domain());
                        for (ActuationReport report : domain.actuation.take(decision, now())) {
                            follow(domain, report);
                            own.write(TopicCatalogue.ACTUATION_REPORTS, domain.id.value(), report);
                        }
                    }
                }
            }
        }
    }

    private void readBare(long number, long nanos) {
        Long due = bares.remove(number);
        if (due != null && counts) {
            synchronized (this) {
                samples.bare.add((nanos - due) / 1e6);
            }
        }
    }

    private void read(Decision decision, long nanos) {
        boolean reclaims = decision.action() instanceof Action.Reclaim;
        boolean serves = decision.action() instanceof Action.Serve;
        if (!reclaims && !serves) {
            return;
        }
        String text = decision.reason().text();
        String key = text.replaceFirst("^service (\\S+) needs (\\d+) .*$", "$1 $2");
        Long due = spikes.remove(key);
        if (due != null && counts) {
            synchronized (this) {
                if (reclaims) {
                    samples.reclaims.add((nanos - due) / 1e6);
                } else {
                    samples.answeredOtherwise++;
                }
            }
        }
    }

    private static void follow(Domain domain, ActuationReport report) {
        if (report.tenant().filter(Tenant.Job.class::isInstance).isEmpty()) {
            return;
        }
        if (report.outcome() == Outcome.BOUND) {
            domain.lent.addAndGet(report.gpus().size());
        } else if (report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED) {
            domain.lent.addAndGet(-report.gpus().size());
        }
    }

    /**
     * Spikes at a steady pace, turn by turn over the domains, each half way between two bare records; then lets demand go.
     *
     * @param number how many; less than there are loans
     * @param counting whether they are measured
     */
    void burst(int number, double perSecond, boolean counting) {
        awaitLoans(number / domains.size());
        counts = counting;
        long began = System.nanoTime() + 10_000_000;
        for (int i = 0; i < number; i++) {
            long due = began + (long) (i / perSecond * 1e9);
            sleepUntil(due);
            spike(due);
            long between = due + (long) (0.5 / perSecond * 1e9);
            sleepUntil(between);
            bare(between);
        }
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!spikes.isEmpty() && System.nanoTime() < until) {
            check();
            LockSupport.parkNanos(10_000_000);
        }
        if (!spikes.isEmpty()) {
            throw new IllegalStateException("no decision for %s within %s".formatted(spikes.keySet(), PATIENCE));
        }
        counts = false;
        calm();
    }

    /** Spikes, on top of those that there were. */
    private void spike(long due) {
        Domain domain = domains.get((int) (nextSpike % domains.size()));
        int number = (int) (nextSpike / domains.size() % SPIKING);
        nextSpike++;
        int needed = ++domain.needed[number];
        ServiceId service = domain.spiking(number);
        spikes.put("%s %d".formatted(service, needed), due);
        tell(domain, service, needed);
    }

    private void tell(Domain domain, ServiceId service, int replicas) {
        writer.write(
                TopicCatalogue.REQUEST_RATES,
                service.value(),
                window(domain, service, "gateway", ++sequence, (long) replicas * PER_SPIKE * WINDOW.toSeconds()));
    }

    private void bare(long due) {
        long number = ++sequence;
        bares.put(number, due);
        byte[] key = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        writer.send(new ProducerRecord<>(BARE, key, "a record of about the size of a request rate's".getBytes(UTF_8)));
    }

    private void calm() {
        for (Domain domain : domains) {
            for (int i = 0; i < SPIKING; i++) {
                domain.needed[i] = 0;
                tell(domain, domain.spiking(i), 0);
            }
        }
        writer.flush();
    }

    private void awaitLoans(int each) {
        long until = System.nanoTime() + PATIENCE.multipliedBy(5).toNanos();
        int idle = plan.gpus - STEADY;
        long next = System.nanoTime() + PATIENCE.toNanos() / 6;
        while (domains.stream().anyMatch(domain -> domain.lent.get() < Math.max(each + 10, 0.9 * idle))) {
            check();
            if (System.nanoTime() > until) {
                throw new IllegalStateException("only %s of %d idle GPUs are on loan in each domain"
                        .formatted(domains.stream().map(domain -> domain.lent).toList(), idle));
            }
            if (System.nanoTime() > next) {
                System.out.printf(
                        "  waiting for loans: %s GPUs of %d that are idle, after %d records%n",
                        domains.stream().map(domain -> domain.lent).toList(), idle, sent.get());

                next = System.nanoTime() + PATIENCE.toNanos() / 6;
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private void check() {
        failure.ifPresent(e -> {
            throw new IllegalStateException("the load broke off", e);
        });
    }

    private static void sleepUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** What was measured so far, which is forgotten. */
    synchronized Samples take() {
        Samples taken = samples;
        samples = new Samples();
        return taken;
    }

    /** Records of load written so far. */
    long sent() {
        return sent.get();
    }

    /** Processor seconds that a process of the control plane has used. */
    Map<String, Double> processorSeconds() {
        Map<String, Double> seconds = new TreeMap<>();
        for (RunningChild child : stack.children()) {
            ProcessHandle.of(child.pid())
                    .flatMap(process -> process.info().totalCpuDuration())
                    .ifPresent(used -> seconds.put(child.name(), used.toMillis() / 1000.0));
        }
        return seconds;
    }

    /** Process number of the scheduler. */
    long schedulerPid() {
        return scheduler.pid();
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    @Override
    public void close() {
        over.set(true);
        for (Thread thread : threads) {
            try {
                thread.join(5000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        writer.close();
        stack.close();
    }
}
