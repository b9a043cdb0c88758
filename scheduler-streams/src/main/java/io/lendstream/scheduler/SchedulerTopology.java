package io.lendstream.scheduler;

import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.RecordContext;
import org.apache.kafka.streams.processor.TopicNameExtractor;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The topology: an intake, an internal topic that brings a domain's records together from several partitions, and the
 * domain processor. Every operator, store and internal topic has a fixed name, so that state survives topology
 * changes.
 */
final class SchedulerTopology {
    /**
     * Raised with every change after which old and new instances must not run together: changes of tasks, of internal
     * topics, or of state entries that older versions cannot read. The first topology had no number.
     */
    static final int VERSION = 4;

    static final String INTAKE = "intake";
    static final String DOMAIN = "domain";

    /** Remembers the domain of each node, so that a node's tombstone reaches the right domain. */
    static final String NODE_DOMAINS = "node-domains";

    /** The state of each domain. */
    static final String DOMAINS = "domains";

    private static final String BY_DOMAIN = "by-domain";

    /** The name of the internal topic's source, as Streams derives it. */
    static final String TO_DOMAIN = BY_DOMAIN + "-repartition-filter";

    /** Merges the records of this partition with those of the internal topic. */
    static final String OF_DOMAIN = "of-domain";

    static final String EVENT_LOG = "domain-events";
    static final String DECISIONS = "decisions";
    static final String SNAPSHOTS = "snapshots";
    static final String REASONS = "reasons";
    static final String BATCHING = "batching-decisions";
    static final String LEASES = "leases";
    static final String PROGRESS = "progress";
    static final String DEAD_INPUT = "dead-inputs";
    static final String DEAD_EVENT = "dead-events";

    /** Topics with the current state of things: read from the start. */
    private static final List<Topic<?>> FACTS = List.of(
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.QUEUES,
            TopicCatalogue.DOMAIN_SETTINGS,
            TopicCatalogue.ACTUATORS,
            TopicCatalogue.DEMAND_FORECASTS,
            TopicCatalogue.CONTROL,
            TopicCatalogue.PROGRESS);

    /** Topics with measurements of a time: a first start does not need last week's. */
    private static final List<Topic<?>> SIGNALS = List.of(
            TopicCatalogue.GPU_TELEMETRY,
            TopicCatalogue.REQUEST_RATES,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.ACTUATION_REPORTS);

    private static final Duration FIRST_LOOK_BACK = Duration.ofHours(1);

    private SchedulerTopology() {}

    /** The topics that the scheduler reads. */
    static List<Topic<?>> inputs() {
        List<Topic<?>> inputs = new ArrayList<>(FACTS);
        inputs.addAll(SIGNALS);
        return inputs;
    }

    /** Their Kafka names, including those of intakes. */
    static Set<String> sources(TopicCatalogue topics) {
        return new TreeSet<>(names(inputs(), topics));
    }

    /**
     * Builds the topology.
     *
     * @param spread maps domains to partitions
     * @param serdes makes the serializers of each task
     */
    static Topology build(
            TopicCatalogue topics,
            StreamsConfig config,
            SchedulerOptions options,
            DomainPartitioner spread,
            SerdeFactory serdes,
            Patience patience,
            SchedulerMetrics metrics) {
        LetterBounds sendable = StreamsProperties.sendable(config);
        long largestBytes = StreamsProperties.largestRecord(config, sendable);
        Supplier<InputReader> readers =
                () -> new InputReader(topics, serdes, patience, options.maxClockSkew(), largestBytes);
        Supplier<OutputWriter> writers = () -> new OutputWriter(topics, serdes, patience, sendable);
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(config));
        boolean isTransactional = StreamsProperties.isExactlyOnce(config);
        builder.addStateStore(store(NODE_DOMAINS, Serdes.String(), isTransactional));
        builder.addStateStore(store(DOMAINS, Serdes.ByteArray(), isTransactional));
        KStream<byte[], byte[]> facts = builder.stream(
                names(FACTS, topics), consumed().withName("facts").withOffsetResetPolicy(AutoOffsetReset.earliest()));
        KStream<byte[], byte[]> signals = builder.stream(
                names(SIGNALS, topics),
                consumed().withName("signals").withOffsetResetPolicy(AutoOffsetReset.byDuration(FIRST_LOOK_BACK)));
        KStream<byte[], RoutedRecord> taken = facts.merge(signals, Named.as("inputs"))
                .process(
                        () -> new Intake(topics, readers.get(), options.time(), spread, options.limits(), metrics),
                        Named.as(INTAKE),
                        NODE_DOMAINS);
        KStream<byte[], RoutedRecord> fromElsewhere =
                taken.repartition(Repartitioned.with(Serdes.ByteArray(), RoutedRecord.serde())
                        .withName(BY_DOMAIN)
                        .withNumberOfPartitions(spread.partitions())
                        .withStreamPartitioner(spread));
        taken.merge(fromElsewhere, Named.as(OF_DOMAIN))
                .process(
                        () -> new DomainProcessor(topics, options, readers.get(), writers.get(), metrics),
                        Named.as(DOMAIN),
                        DOMAINS);
        Topology topology = builder.build();
        addSink(topology, EVENT_LOG, topics.name(TopicCatalogue.DOMAIN_EVENTS));
        addSink(topology, DECISIONS, topics.name(TopicCatalogue.DECISIONS));
        addSink(topology, SNAPSHOTS, topics.name(TopicCatalogue.SNAPSHOTS));
        addSink(topology, REASONS, topics.name(TopicCatalogue.REASONS));
        addSink(topology, BATCHING, topics.name(TopicCatalogue.BATCHING_DECISIONS));
        addSink(topology, LEASES, topics.name(TopicCatalogue.LEASES));
        addSink(topology, PROGRESS, topics.name(TopicCatalogue.PROGRESS));
        addDeadLetters(topology, DEAD_INPUT, INTAKE, topics, config);
        addDeadLetters(topology, DEAD_EVENT, DOMAIN, topics, config);
        return topology;
    }

    private static void addSink(Topology topology, String name, String topic) {
        topology.addSink(name, topic, new ByteArraySerializer(), new ByteArraySerializer(), DOMAIN);
    }

    private static void addDeadLetters(
            Topology topology, String name, String parent, TopicCatalogue topics, StreamsConfig config) {
        LetterBounds sendable = StreamsProperties.sendable(config);
        topology.addSink(
                name,
                new DeadLettersOf(topics),
                LetterSerializer.ofKeys(sendable),
                LetterSerializer.ofValues(sendable, StreamsProperties.refusedLetters(config)),
                parent);
    }

    /** The dead-letter topic of the topic in which a record was found. */
    private record DeadLettersOf(TopicCatalogue topics) implements TopicNameExtractor<byte[], byte[]> {
        @Override
        public String extract(byte[] key, byte[] value, RecordContext context) {
            return topics.deadLetters(
                    topics.find(DeadLetter.topic(context.headers())).orElseThrow());
        }
    }

    private static List<String> names(List<Topic<?>> some, TopicCatalogue topics) {
        return some.stream().flatMap(topic -> topics.names(topic).stream()).toList();
    }

    private static Consumed<byte[], byte[]> consumed() {
        return Consumed.with(Serdes.ByteArray(), Serdes.ByteArray());
    }

    /**
     * Creates an in-memory store with a changelog.
     *
     * @param isTransactional whether all writes become visible at the end of their transaction, or not at all. If so,
     *     the changelog may skip intermediate values of an entry. If not, each write goes to the changelog at once,
     *     because after a crash the log of events continues where the state ends
     */
    private static <V> StoreBuilder<?> store(String name, Serde<V> values, boolean isTransactional) {
        StoreBuilder<?> store = Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), values)
                .withLoggingEnabled(Map.of());
        return isTransactional ? store.withCachingEnabled() : store.withCachingDisabled();
    }
}
