package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.SnapshotPart;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/** The scheduler's topology in this process, with a registry: records go in by hand, and what comes out can be read. */
final class Loop implements AutoCloseable {
    static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    static final Duration PATIENCE = Duration.ofSeconds(30);
    /** What the wall clock says when the loop starts. */
    static final Instant WALL_CLOCK = Scenario.START.plus(Duration.ofDays(1));

    /** Domains that its metrics name. */
    static final int MOST_LABELS = 3;

    private static final Policy DEEPBOOT = Policies.parse("deepboot");
    private static final String APPLICATION = "loop";

    private final TopicCatalogue site;
    private final SnapshotPace snapshots;
    private final FakeRegistry registry;
    private final boolean ownsRegistry;
    private final Topology topology;
    private final TopologyTestDriver driver;
    private final SerdeFactory serdes;
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final SchedulerMetrics metrics;
    private Instant wallClock;

    private Loop(
            FakeRegistry registry,
            boolean ownsRegistry,
            Policy policy,
            TimeMode time,
            boolean forecasts,
            Instant wallClock,
            DomainLimits limits,
            SnapshotPace snapshots,
            TopicCatalogue topics) {
        this.site = topics;
        this.snapshots = snapshots;
        this.registry = registry;
        this.ownsRegistry = ownsRegistry;
        this.wallClock = wallClock;
        Map<String, Object> site = Map.of(
                "bootstrap.servers",
                "nowhere:9092",
                RegistrySettings.URL,
                registry.url(),
                "max.retries",
                "0",
                SerdeFactory.SERIALIZER,
                BrittleSerializer.class.getName(),
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG,
                StreamsConfig.AT_LEAST_ONCE);
        Map<String, Object> config = StreamsProperties.of(APPLICATION, site);
        serdes = SerdeFactory.of(site);
        SchedulerOptions options = new SchedulerOptions(
                new Scheduler(policy, SchedulerSettings.DEFAULTS),
                time,
                Duration.ofMinutes(5),
                forecasts,
                Duration.ofSeconds(60),
                PATIENCE,
                limits,
                snapshots,
                SchedulerKeys.DEFAULT_HOLD);
        metrics = new SchedulerMetrics(meters, MOST_LABELS);
        topology = SchedulerTopology.build(
                topics,
                new StreamsConfig(config),
                options,
                new DomainPartitioner(1),
                serdes,
                new Patience(3, Duration.ofMillis(10), () -> false),
                metrics);
        Properties properties = new Properties();
        properties.putAll(config);
        driver = new TopologyTestDriver(topology, properties, wallClock);
    }

    static Loop live() {
        return with(DEEPBOOT);
    }

    static Loop with(Policy policy) {
        return wall(policy, SchedulerKeys.DEFAULT_LIMITS, TOPICS);
    }

    private static Loop wall(Policy policy, DomainLimits limits, TopicCatalogue topics) {
        return new Loop(
                new FakeRegistry(),
                true,
                policy,
                TimeMode.WALL,
                true,
                WALL_CLOCK,
                limits,
                SchedulerKeys.DEFAULT_SNAPSHOTS,
                topics);
    }

    /** A live one that writes snapshots so often. */
    static Loop snapshotting(SnapshotPace snapshots) {
        return new Loop(
                new FakeRegistry(),
                true,
                DEEPBOOT,
                TimeMode.WALL,
                true,
                WALL_CLOCK,
                SchedulerKeys.DEFAULT_LIMITS,
                snapshots,
                TOPICS);
    }

    /** One of a site with intakes, as the setting has them. */
    static Loop withIntakes(String intakes) {
        TopicCatalogue topics = new TopicCatalogue(TOPICS.prefix(), Intakes.parse(intakes), Optional.empty());
        return wall(DEEPBOOT, SchedulerKeys.DEFAULT_LIMITS, topics);
    }

    static Loop accelerated(boolean awaitsForecasts) {
        return new Loop(
                new FakeRegistry(),
                true,
                DEEPBOOT,
                TimeMode.VIRTUAL,
                awaitsForecasts,
                WALL_CLOCK,
                SchedulerKeys.DEFAULT_LIMITS,
                SchedulerKeys.DEFAULT_SNAPSHOTS,
                TOPICS);
    }

    static Loop within(DomainLimits limits) {
        return wall(DEEPBOOT, limits, TOPICS);
    }

    /** The same application started again, with what its stores had. */
    Loop restarted(TimeMode time) {
        return restarted(time, DEEPBOOT, SchedulerKeys.DEFAULT_LIMITS);
    }

    Loop restarted(TimeMode time, Policy policy, DomainLimits limits) {
        Loop next = new Loop(registry, false, policy, time, true, wallClock, limits, snapshots, site);
        for (String store : List.of(SchedulerTopology.DOMAINS, SchedulerTopology.NODE_DOMAINS)) {
            KeyValueStore<String, Object> from = driver.getKeyValueStore(store);
            KeyValueStore<String, Object> to = next.driver.getKeyValueStore(store);
            try (KeyValueIterator<String, Object> entries = from.all()) {
                while (entries.hasNext()) {
                    KeyValue<String, Object> entry = entries.next();
                    to.put(entry.key, entry.value);
                }
            }
        }
        return next;
    }

    /** A live one with the stores that an earlier version left, as {@code states/README.md} describes them. */
    static Loop keptBy(Path stores, Instant wallClock) throws IOException {
        Loop loop = new Loop(
                new FakeRegistry(),
                true,
                DEEPBOOT,
                TimeMode.WALL,
                true,
                wallClock,
                SchedulerKeys.DEFAULT_LIMITS,
                SchedulerKeys.DEFAULT_SNAPSHOTS,
                TOPICS);
        try (var in = new DataInputStream(new GZIPInputStream(Files.newInputStream(stores)))) {
            for (int more = in.read(); more >= 0; more = in.read()) {
                String store = new String(in.readNBytes((more << 8) + in.read()), UTF_8);
                String key = new String(in.readNBytes(in.readInt()), UTF_8);
                byte[] value = in.readNBytes(in.readInt());
                if (key.contains("\0POSITION\0")) {
                    ByteBuffer.wrap(value).putLong(-1); // the driver's topics begin again
                }
                KeyValueStore<String, Object> to = loop.driver.getKeyValueStore(store);
                to.put(key, store.equals(SchedulerTopology.DOMAINS) ? value : new String(value, UTF_8));
            }
        }
        return loop;
    }

    /** The entries of domains, to be changed before the first record. */
    KeyValueStore<String, byte[]> domains() {
        return driver.getKeyValueStore(SchedulerTopology.DOMAINS);
    }

    String description() {
        return topology.describe().toString();
    }

    FakeRegistry registry() {
        return registry;
    }

    double count(String meter, String... tags) {
        return meters.find(meter).tags(tags).counters().stream()
                .mapToDouble(io.micrometer.core.instrument.Counter::count)
                .sum();
    }

    double gauge(String meter, String... tags) {
        return meters.get(meter).tags(tags).gauge().value();
    }

    /** What metrics of this name say of which domains. */
    Set<String> labels(String meter) {
        return meters.find(meter).gauges().stream()
                .map(gauge -> String.valueOf(gauge.getId().getTag("domain")))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Why the instance would not be ready now. */
    Optional<String> complaint() {
        return metrics.condition().complaint(wallClock);
    }

    /** Puts an event into its topic. */
    Loop tell(Event event) {
        if (event instanceof NodeLeft left) {
            return sendBytes(TopicCatalogue.NODES, left.nodeId().value().getBytes(UTF_8), null);
        }
        return send(address(event));
    }

    /**
     * Puts an event into its topic of an intake, as it is or as one of another domain; one that intakes have no topic
     * of into the base topic.
     */
    Loop tellBy(String intake, Event event, DomainId domain) {
        if (event instanceof NodeLeft left) {
            byte[] key = left.nodeId().value().getBytes(UTF_8);
            return sendTo(site.name(TopicCatalogue.NODES, intake), new TestRecord<>(key, null, wallClock));
        }
        return tellBy(intake, address(event), domain);
    }

    private <T> Loop tellBy(String intake, Addressed<T> event, DomainId domain) {
        String topic = TopicCatalogue.OF_INTAKES.contains(event.topic)
                ? site.name(event.topic, intake)
                : site.name(event.topic);
        GenericRecord record = Codecs.encode(event.topic, event.value);
        if (record.getSchema().getField("domain") != null) {
            record.put("domain", domain.value());
        }
        return sendTo(topic, new TestRecord<>(event.key.getBytes(UTF_8), encodeRaw(event.topic, record), wallClock));
    }

    private <T> Loop send(Addressed<T> event) {
        return send(event.topic, event.key, event.value);
    }

    /** An event, with the topic and the key under which its source writes it. */
    private record Addressed<T>(Topic<T> topic, String key, T value) {}

    private static Addressed<?> address(Event event) {
        if (event instanceof Node node) {
            return new Addressed<>(TopicCatalogue.NODES, node.nodeId().value(), node);
        }
        if (event instanceof GpuTelemetry telemetry) {
            return new Addressed<>(
                    TopicCatalogue.GPU_TELEMETRY, telemetry.nodeId().value(), telemetry);
        }
        if (event instanceof InferenceService service) {
            return new Addressed<>(TopicCatalogue.SERVICES, service.service().value(), service);
        }
        if (event instanceof RequestRate rate) {
            return new Addressed<>(TopicCatalogue.REQUEST_RATES, rate.service().value(), rate);
        }
        if (event instanceof TrainingJob job) {
            return new Addressed<>(TopicCatalogue.TRAINING_JOBS, job.job().value(), job);
        }
        if (event instanceof ClusterQueue queue) {
            return new Addressed<>(TopicCatalogue.QUEUES, queue.queue().value(), queue);
        }
        if (event instanceof DomainSettings settings) {
            return new Addressed<>(
                    TopicCatalogue.DOMAIN_SETTINGS, settings.domain().value(), settings);
        }
        if (event instanceof TrainingProgress progress) {
            return new Addressed<>(
                    TopicCatalogue.TRAINING_PROGRESS, progress.job().value(), progress);
        }
        if (event instanceof DemandForecast forecast) {
            return new Addressed<>(
                    TopicCatalogue.DEMAND_FORECASTS, forecast.service().value(), forecast);
        }
        if (event instanceof ActuationReport report) {
            return new Addressed<>(
                    TopicCatalogue.ACTUATION_REPORTS, report.domain().value(), report);
        }
        if (event instanceof ActuatorDescription description) {
            return new Addressed<>(
                    TopicCatalogue.ACTUATORS, description.domain() + "/" + description.actuator(), description);
        }
        if (event instanceof ControlCommand command) {
            return new Addressed<>(TopicCatalogue.CONTROL, command.domain().value(), command);
        }
        throw new IllegalArgumentException("the scheduler makes this itself: " + event);
    }

    Loop progress(String service, DomainId domain, Instant upTo, Map<String, Long> positions) {
        return send(TopicCatalogue.PROGRESS, service, new Progress(service, domain, upTo, positions, Optional.empty()));
    }

    <T> Loop send(Topic<T> topic, String key, T value) {
        return sendBytes(topic, key.getBytes(UTF_8), encode(topic, value));
    }

    <T> byte[] encode(Topic<T> topic, T value) {
        return serdes.serializer().serialize(TOPICS.name(topic), Codecs.encode(topic, value));
    }

    byte[] encodeRaw(Topic<?> topic, GenericRecord record) {
        return serdes.serializer().serialize(TOPICS.name(topic), record);
    }

    Loop sendBytes(Topic<?> topic, byte @Nullable [] key, byte @Nullable [] value) {
        return sendTo(TOPICS.name(topic), new TestRecord<>(key, value, wallClock));
    }

    /** Puts an event into its topic as if it had lain there since then. */
    Loop tellSince(Instant arrived, Event event) {
        Instant now = wallClock;
        wallClock = arrived;
        tell(event);
        wallClock = now;
        return this;
    }

    /** Puts an event that another run of this application read behind the intake. */
    Loop passOn(Event event, long offset) {
        return passOn(address(event), event.domain(), offset);
    }

    private <T> Loop passOn(Addressed<T> event, DomainId domain, long offset) {
        return passOn(event.topic, domain, new Origin(TOPICS.name(event.topic), 0, offset), event.value);
    }

    /** Puts a record where the intake puts it, as if the intake had read it at this place. */
    <T> Loop passOn(Topic<T> topic, DomainId domain, Origin origin, T value) {
        Headers headers = new RecordHeaders();
        new RoutingHeaders(origin, Optional.empty()).addTo(headers, "key".getBytes(UTF_8));
        return sendTo(
                APPLICATION + "-by-domain-repartition",
                new TestRecord<>(domain.value().getBytes(UTF_8), encode(topic, value), headers, wallClock));
    }

    Loop sendTo(String topic, TestRecord<byte[], byte[]> record) {
        driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(record);
        return this;
    }

    /** Lets time on the wall pass. */
    Loop pass(Duration time) {
        wallClock = wallClock.plus(time);
        driver.advanceWallClockTime(time);
        return this;
    }

    Instant wallClock() {
        return wallClock;
    }

    List<DomainEvent> events() {
        return read(TopicCatalogue.DOMAIN_EVENTS);
    }

    List<Decision> decisions() {
        return read(TopicCatalogue.DECISIONS);
    }

    List<SnapshotPart> snapshots() {
        return read(TopicCatalogue.SNAPSHOTS);
    }

    List<Lease> leases() {
        return read(TopicCatalogue.LEASES);
    }

    List<Progress> answers() {
        return read(TopicCatalogue.PROGRESS);
    }

    /** What came out since the last time, but for tombstones. */
    <T> List<T> read(Topic<T> topic) {
        List<T> values = new ArrayList<>();
        for (TestRecord<byte[], byte[]> record : records(TOPICS.name(topic))) {
            if (record.value() != null) {
                values.add(decode(topic, record));
            }
        }
        return values;
    }

    <T> T decode(Topic<T> topic, TestRecord<byte[], byte[]> record) {
        return Codecs.decode(topic, serdes.deserializer().deserialize(TOPICS.name(topic), record.value()));
    }

    List<TestRecord<byte[], byte[]>> records(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .readRecordsToList();
    }

    List<TestRecord<byte[], byte[]>> deadLetters(Topic<?> topic) {
        return records(TOPICS.deadLetters(topic));
    }

    static String header(TestRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), UTF_8);
    }

    static CloudEventHeaders cloudEvent(TestRecord<byte[], byte[]> record) {
        return CloudEventHeaders.from(record.headers()).orElseThrow();
    }

    @Override
    public void close() {
        driver.close();
        if (ownsRegistry) {
            registry.close();
        }
    }
}
