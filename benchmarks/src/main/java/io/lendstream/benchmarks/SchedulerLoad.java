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
 * A scheduler, as a process, with a broker, and all that it has to hear: nodes' samples and request rates at a steady pace, an
 * actuator that does everything at once, and spikes. A spike raises the rate of a service by what one replica answers, when every
 * GPU that is not needed is on loan, so that its record calls for a reclaim; in between, a record is written and read that nobody
 * looks at. All times count from when a record was to be written, whether the writer was in time or not.
 */
final class SchedulerLoad implements AutoCloseable {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern SHORT_OF = Pattern.compile("(\\S+) is short of ");
    /** As agents do: what a node has to say at one moment goes in one request. Spikes and bare records wait for nothing. */
    private static final int AGENT_LINGER_MILLIS = 5;

    private final Plan plan;
    private final SchedulerStack stack;
    private final KafkaSettings kafka;
    private final SteadyTraffic traffic;
    private final RecordWriter writer;
    private final List<LoadedDomain> domains = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();
    /** When the spikes that wait for a decision were due, by service and replicas that are needed. */
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

    /** Reads decisions and says that they are carried out; notes how old those are that spikes wait for. */
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
        // What comes late may be overtaken by the next spike of its service, and is answered with it.
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
     * Declares another domain, in the same partition, of so many nodes with one GPU each, as fast as they can be written; and waits
     * until the scheduler has taken or refused all of them.
     *
     * @return how long that took
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
                throw new IllegalStateException("%d records are not taken yet".formatted(behind()));
            }
            LockSupport.parkNanos(PATIENCE.toNanos() / 600);
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** Sends a spike on top of those that there were when it is due. */
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

    /** Nodes' samples written so far. */
    long nodeSamples() {
        return traffic.samples();
    }

    /** Records of all inputs that the scheduler has not committed yet. */
    long behind() {
        return stack.behind();
    }

    /** Processor seconds that a process of the control plane has used. */
    Map<String, Double> processorSeconds() {
        return stack.processorSeconds();
    }

    /** Process number of the scheduler. */
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
