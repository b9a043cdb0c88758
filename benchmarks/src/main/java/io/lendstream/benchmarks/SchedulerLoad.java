package io.lendstream.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordWriter;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * A scheduler process, a broker, and a steady load with spikes. The load has node samples, request rates, and an
 * actuator that acts at once. A spike raises the rate of a service by the capacity of one replica while every
 * unneeded GPU is on loan, so its record causes a reclaim. Between spikes a bare record is written and read without
 * processing. All times count from the due time of a record, whether the writer was in time or not.
 */
final class SchedulerLoad implements AutoCloseable {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern SHORT_OF = Pattern.compile("(\\S+) is short of ");
    /**
     * Sends as agents do: all records of a node at one moment go in one request. Spikes and bare records are not
     * delayed.
     */
    private static final int AGENT_LINGER_MILLIS = 5;

    private final Plan plan;
    private final SchedulerStack stack;
    private final KafkaSettings kafka;
    private final SteadyTraffic traffic;
    private final RecordWriter writer;
    private final List<LoadedDomain> domains = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();
    /** The due times of spikes that wait for a decision, by service and needed replicas. */
    private final Map<ServiceId, NavigableMap<Integer, Long>> spikes = new ConcurrentHashMap<>();

    private final Map<Long, Long> bares = new ConcurrentHashMap<>();
    private final Map<ServiceId, Integer> needed = new TreeMap<>();
    private final Thread reader = new Thread(this::read, "bench-decisions");
    private volatile Optional<Throwable> failure = Optional.empty();
    private volatile boolean counts;
    private volatile Samples samples = new Samples();
    private long nextSpike;
    private long sequence;

    /**
     * The load of a scheduler.
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

    /** Milliseconds from a record to its effect. */
    static final class Samples {
        final List<Double> reclaims = new ArrayList<>();
        final List<Double> bare = new ArrayList<>();
        int answeredOtherwise;
    }

    SchedulerLoad(Plan plan) {
        this.plan = plan;
        this.stack = new SchedulerStack(plan.guarantee, plan.commitMillis, plan.heapMegabytes);
        this.kafka = stack.kafka(0);
        this.writer = RecordWriter.open(kafka, TOPICS, "/lendstream/bench");
        for (int i = 0; i < plan.domains; i++) {
            var domain = new LoadedDomain(i, plan.gpus);
            domain.describe(writer);
            domains.add(domain);
        }
        this.traffic = new SteadyTraffic(stack.kafka(AGENT_LINGER_MILLIS), domains);
    }

    /** Starts the load. */
    void start() {
        reader.setDaemon(true);
        reader.start();
        traffic.start(plan.samplesPerSecond, plan.ratesPerSecond);
    }

    private void read() {
        try {
            carryOut();
        } catch (RuntimeException | Error e) {
            failure = Optional.of(e);
        }
    }

    /** Reads decisions and reports them as carried out; records the latency of spikes. */
    private void carryOut() {
        Deserializer<GenericRecord> deserializer = SerdeFactory.of(kafka.serdes())
                .reading(Codecs.readerSchemas(TOPICS))
                .deserializer();
        String decisions = TOPICS.name(TopicCatalogue.DECISIONS);
        Map<DomainId, LoadedDomain> byId = new TreeMap<>();
        domains.forEach(domain -> byId.put(domain.id(), domain));
        try (var consumer = new KafkaConsumer<byte[], byte[]>(kafka.consumer());
                RecordWriter own = RecordWriter.open(kafka, TOPICS, "/lendstream/bench")) {
            consumer.assign(List.of(new TopicPartition(decisions, 0), new TopicPartition(SchedulerStack.BARE, 0)));
            consumer.seekToBeginning(consumer.assignment());
            while (!over.get()) {
                var records = consumer.poll(Duration.ofMillis(100));
                long nanos = System.nanoTime();
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (record.topic().equals(SchedulerStack.BARE)) {
                        readBare(ByteBuffer.wrap(record.key()).getLong(), nanos);
                    } else {
                        Decision decision = Codecs.decode(
                                TopicCatalogue.DECISIONS,
                                deserializer.deserialize(record.topic(), record.headers(), record.value()));
                        read(decision, nanos);
                        LoadedDomain domain =
                                Objects.requireNonNull(byId.get(decision.id().domain()), "a domain that is not loaded");
                        for (ActuationReport report : domain.actuation().take(decision, LoadedDomain.now())) {
                            domain.follow(report);
                            own.write(
                                    TopicCatalogue.ACTUATION_REPORTS,
                                    domain.id().value(),
                                    report);
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
        boolean reclaims = decision.action().asReclaim().isPresent();
        boolean serves = decision.action().asServe().isPresent();
        if (!reclaims && !serves) {
            return;
        }
        Matcher service = SHORT_OF.matcher(decision.reason().text());
        Double needed = decision.reason().numbers().get("needed");
        if (needed == null || !service.find()) {
            return;
        }
        var waiting = spikes.get(new ServiceId(service.group(1)));
        if (waiting == null) {
            return;
        }
        // A late decision may be superseded by the next spike of its service, and answers both.
        var answered = waiting.headMap(needed.intValue(), true);
        for (long due : answered.values()) {
            if (counts) {
                synchronized (this) {
                    if (reclaims) {
                        samples.reclaims.add((nanos - due) / 1e6);
                    } else {
                        samples.answeredOtherwise++;
                    }
                }
            }
        }
        answered.clear();
    }

    /**
     * Sends spikes at a steady pace, in turn over the domains, each half way between two bare records; then lowers
     * demand.
     *
     * @param number the number of spikes; fewer than the loans
     * @param counting whether they are measured
     */
    void burst(int number, double perSecond, boolean counting) {
        awaitLoans(number / domains.size());
        counts = counting;
        long began = System.nanoTime() + 10_000_000;
        for (int i = 0; i < number; i++) {
            long due = began + (long) (i / perSecond * 1e9);
            spike(due);
            long between = due + (long) (0.5 / perSecond * 1e9);
            sleepUntil(between);
            bare(between);
        }
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!waiting().isEmpty() && System.nanoTime() < until) {
            check();
            LockSupport.parkNanos(10_000_000);
        }
        if (!waiting().isEmpty()) {
            throw new IllegalStateException("no decision for %s within %s".formatted(waiting(), PATIENCE));
        }
        counts = false;
        calm();
    }

    /**
     * Declares another domain with this many nodes of one GPU, in the same partition, as fast as possible, and waits
     * until the scheduler has taken or refused all of them.
     *
     * @return the time that took
     */
    Duration crowd(int nodes) {
        DomainId domain = new DomainId("bench-crowd");
        long began = System.nanoTime();
        for (int i = 0; i < nodes; i++) {
            String name = "crowd-%06d".formatted(i);
            Gpu gpu = Gpu.whole(new GpuId(name + "-gpu"), 0, "H100", 80L << 30);
            Node node = new Node(
                    new NodeId(name),
                    domain,
                    Pool.INFERENCE,
                    "bench",
                    LoadedDomain.now(),
                    NodeStatus.READY,
                    List.of(gpu));
            writer.write(TopicCatalogue.NODES, name, node);
        }
        writer.flush();
        long until = System.nanoTime() + PATIENCE.multipliedBy(10).toNanos();
        while (behind() > 2 * plan.ratesPerSecond) {
            check();
            if (System.nanoTime() > until) {
                throw new IllegalStateException("%d records are not processed yet".formatted(behind()));
            }
            LockSupport.parkNanos(PATIENCE.toNanos() / 600);
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** Sends a spike when it is due, on top of the earlier ones. */
    private List<String> waiting() {
        return spikes.entrySet().stream()
                .flatMap(entry -> entry.getValue().keySet().stream().map(needed -> entry.getKey() + " " + needed))
                .toList();
    }

    private void spike(long due) {
        LoadedDomain domain = domains.get((int) (nextSpike % domains.size()));
        ServiceId service = domain.spiking((int) (nextSpike / domains.size() % LoadedDomain.SPIKING));
        nextSpike++;
        int replicas = needed.merge(service, 1, Integer::sum);
        var record = rate(domain, service, replicas);
        spikes.computeIfAbsent(service, any -> new ConcurrentSkipListMap<>()).put(replicas, due);
        sleepUntil(due);
        writer.send(record);
    }

    private ProducerRecord<byte[], byte[]> rate(LoadedDomain domain, ServiceId service, int replicas) {
        return writer.record(
                TopicCatalogue.REQUEST_RATES, service.value(), domain.spike(service, replicas, ++sequence));
    }

    private void bare(long due) {
        long number = ++sequence;
        bares.put(number, due);
        byte[] key = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        writer.send(new ProducerRecord<>(
                SchedulerStack.BARE, key, "a record of about the size of a request rate's".getBytes(UTF_8)));
    }

    private void calm() {
        needed.clear();
        for (LoadedDomain domain : domains) {
            for (int i = 0; i < LoadedDomain.SPIKING; i++) {
                writer.send(rate(domain, domain.spiking(i), 0));
            }
        }
        writer.flush();
    }

    private void awaitLoans(int each) {
        long until = System.nanoTime() + PATIENCE.multipliedBy(5).toNanos();
        int idle = plan.gpus - LoadedDomain.STEADY;
        long next = System.nanoTime() + PATIENCE.toNanos() / 6;
        while (domains.stream().anyMatch(domain -> domain.lent() < Math.max(each + 10, 0.9 * idle))) {
            check();
            if (System.nanoTime() > until) {
                throw new IllegalStateException("only %s of %d idle GPUs are on loan in each domain"
                        .formatted(domains.stream().map(LoadedDomain::lent).toList(), idle));
            }
            if (System.nanoTime() > next) {
                System.out.printf(
                        "  waiting for loans: %s GPUs of %d that are idle, after %d records%n",
                        domains.stream().map(LoadedDomain::lent).toList(), idle, traffic.sent());

                next = System.nanoTime() + PATIENCE.toNanos() / 6;
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private void check() {
        failure.or(traffic::failure).ifPresent(e -> {
            throw new IllegalStateException("the load stopped", e);
        });
    }

    private static void sleepUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** The measurements so far, which are reset. */
    synchronized Samples take() {
        Samples taken = samples;
        samples = new Samples();
        return taken;
    }

    /** The number of node samples written. */
    long nodeSamples() {
        return traffic.samples();
    }

    /** The number of input records that the scheduler has not committed. */
    long behind() {
        return stack.behind();
    }

    /** Processor seconds of a process of the control plane. */
    Map<String, Double> processorSeconds() {
        return stack.processorSeconds();
    }

    /** The process id of the scheduler. */
    long schedulerPid() {
        return stack.schedulerPid();
    }

    @Override
    public void close() {
        over.set(true);
        traffic.close();
        try {
            reader.join(5000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        writer.close();
        stack.close();
    }
}
