package io.lendstream.scheduler;

import io.lendstream.core.event.ServiceName;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.AvroSerializer;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.serde.UnregisteredSchemas;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.SettingsException;
import io.micrometer.core.instrument.binder.kafka.KafkaStreamsMetrics;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.GroupProtocol;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;

/** The scheduler as a process: one instance of the Streams application. */
@Command(
        name = "scheduler",
        description = "Decides who gets which GPU: reads telemetry, demand and jobs, and writes decisions and leases.",
        footer = {
            "",
            "Example:",
            "  lendstream scheduler --bootstrap-server broker:9092 \\",
            "      --registry http://registry:8081 \\",
            "      --set scheduler.policy=deepboot"
        })
public final class SchedulerMain extends ServiceCommand {
    private static final Logger log = LoggerFactory.getLogger(SchedulerMain.class);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(15);
    /** Attempts at the registry before a thread is replaced; with their pauses they take well under a minute. */
    private static final int REGISTRY_TRIES = 6;

    private static final Duration LONGEST_REGISTRY_WAIT = Duration.ofSeconds(5);

    private static final List<Topic<?>> OUTPUTS = List.of(
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.DECISIONS,
            TopicCatalogue.SNAPSHOTS,
            TopicCatalogue.REASONS,
            TopicCatalogue.BATCHING_DECISIONS,
            TopicCatalogue.LEASES);

    private final int topologyVersion;

    public SchedulerMain() {
        this(SchedulerTopology.VERSION);
    }

    /** An assignor with the name of another topology version. */
    SchedulerMain(int topologyVersion) {
        this.topologyVersion = topologyVersion;
    }

    public static void main(String[] arguments) {
        System.exit(execute(new SchedulerMain(), arguments));
    }

    @Override
    protected ServiceName service() {
        return ServiceName.SCHEDULER;
    }

    @Override
    protected List<Key<?>> keys() {
        return SchedulerKeys.ALL;
    }

    @Override
    protected List<Topic<?>> topics() {
        List<Topic<?>> topics = new ArrayList<>(SchedulerTopology.inputs());
        topics.addAll(OUTPUTS);
        return topics;
    }

    @Override
    protected void check(ServiceContext context) {
        SchedulerKeys.options(context.settings());
    }

    @Override
    protected int serve(ServiceContext context) {
        SchedulerOptions options = SchedulerKeys.options(context.settings());
        String named = context.settings().get(SchedulerKeys.APPLICATION_ID);
        String application = named.isBlank() ? context.topics().prefix() + ServiceName.SCHEDULER : named;
        Map<String, Object> properties = StreamsProperties.of(
                application, StreamsProperties.site(context.kafka().common(), context.settings()));
        properties.put(InputReader.MAX_RECORD_BYTES, context.settings().get(CommonKeys.MAX_RECORD_BYTES));
        StreamsConfig config = new StreamsConfig(properties);
        Patience patience = new Patience(
                REGISTRY_TRIES, LONGEST_REGISTRY_WAIT, () -> context.stop().isRequested());
        SchedulerMetrics metrics =
                new SchedulerMetrics(context.metrics(), context.settings().get(SchedulerKeys.MAX_LABELLED_DOMAINS));
        metrics.startAtZero(SchedulerTopology.inputs());
        context.health().notReadyWhile(() -> metrics.condition().complaint(Instant.now()));
        Topology topology = SchedulerTopology.build(
                context.topics(),
                config,
                options,
                spread(context),
                SerdeFactory.of(context.kafka().serdes()),
                patience,
                metrics);
        log.info(
                "policy {}, {} time, {}, topology {}",
                options.scheduler().policy().spec(),
                options.time().name().toLowerCase(java.util.Locale.ROOT),
                properties.get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG),
                topologyVersion);
        options.scheduler().policy().info().warning().ifPresent(warning -> log.warn("{}", warning));
        learnSchemas(context);
        return run(topology, config, properties, application, context);
    }

    private int run(
            Topology topology,
            StreamsConfig config,
            Map<String, Object> properties,
            String application,
            ServiceContext context) {
        String assignor =
                TopologyAssignor.name(topologyVersion, context.topics().intakes());
        Properties all = new Properties();
        all.putAll(properties);
        try (Admin admin = Admin.create(context.kafka().admin());
                KafkaStreams streams = new KafkaStreams(topology, all, clients(config, assignor))) {
            streams.setUncaughtExceptionHandler(new UncaughtErrors(
                    InstantSource.system(),
                    new Standby(
                            () -> Standby.look(admin, application, assignor),
                            LOOK_EVERY,
                            () -> context.stop().isRequested()
                                    || !streams.state().isRunningOrRebalancing(),
                            context.health(),
                            context.metrics())));
            return run(streams, context);
        }
    }

    /** The brokers' own protocol for Streams separates topologies by itself. */
    private static KafkaClientSupplier clients(StreamsConfig config, String assignor) {
        return GroupProtocol.of(config.getString(StreamsConfig.GROUP_PROTOCOL_CONFIG)) == GroupProtocol.CLASSIC
                ? new TopologyClients(assignor)
                : new DefaultKafkaClientSupplier();
    }

    /** As many partitions as the largest base topic has, which is the number of tasks. */
    private static DomainPartitioner spread(ServiceContext context) {
        TopicCatalogue base = new TopicCatalogue(context.topics().prefix());
        int partitions = mostPartitions(context, base);
        int most = context.topics().intakes().isEmpty() ? partitions : mostPartitions(context, context.topics());
        if (most > partitions) {
            throw new SettingsException(
                    "a topic of an intake has %d partitions, but the base topics, and so the scheduler's state, have at most %d. Delete the intake's topics and create them with 'lendstream topics create', which uses the base topics' number, or remove the intake from %s."
                            .formatted(most, partitions, CommonKeys.INTAKES.name()));
        }
        return new DomainPartitioner(partitions);
    }

    private static int mostPartitions(ServiceContext context, TopicCatalogue topics) {
        return Connection.mostPartitions(
                context.kafka(),
                SchedulerTopology.sources(topics),
                context.settings().get(CommonKeys.CONNECT_TIMEOUT));
    }

    /** The scheduler must be able to take over while the registry does not answer. */
    private static void learnSchemas(ServiceContext context) {
        RegistryClient registry =
                RegistryClient.shared(RegistrySettings.from(context.kafka().serdes()));
        try {
            new SchemaSet(registry, context.topics()).learn();
            checkOutputs(context);
        } catch (RegistryException e) {
            log.warn(
                    "the registry does not answer ({}); starting anyway: each schema is requested again"
                            + " when a record needs it",
                    e.getMessage());
        }
    }

    /** A schema that is missing would stop the scheduler with its first record, when it is in office. */
    private static void checkOutputs(ServiceContext context) {
        Map<String, Schema> written = new TreeMap<>();
        OUTPUTS.forEach(topic -> written.put(context.topics().name(topic), Codecs.schema(topic)));
        List<String> missing = UnregisteredSchemas.of(context.kafka().serdes(), written);
        if (!missing.isEmpty()) {
            throw new SettingsException(
                    "%s is false, but the registry lacks this version's schemas of %s. Run 'lendstream schemas register' of this version before its scheduler."
                            .formatted(AvroSerializer.AUTO_REGISTER, String.join(", ", missing)));
        }
    }

    private static int run(KafkaStreams streams, ServiceContext context) {
        streams.setGlobalStateRestoreListener(new RestoreMetrics(context.metrics()));
        streams.setStateListener((now, before) -> tell(context.health(), now));
        boolean watched = context.settings().get(CommonKeys.HEALTH_PORT).isPresent();
        try (KafkaStreamsMetrics metrics = new KafkaStreamsMetrics(streams)) {
            if (watched) {
                metrics.bindTo(context.metrics());
            }
            streams.start();
            while (!context.stop().waitFor(LOOK_EVERY)) {
                if (streams.state().hasCompletedShutdown()) {
                    return failed("Kafka Streams stopped unexpectedly; the log has the error");
                }
            }
            log.info("closing");
            if (!streams.close(CLOSE_WITHIN)) {
                return failed("not closed within %s; uncommitted work is repeated after the next start"
                        .formatted(CLOSE_WITHIN));
            }
            return DONE;
        }
    }

    private static void tell(Health health, KafkaStreams.State state) {
        switch (state) {
            case RUNNING -> health.ready();
            case CREATED, REBALANCING -> health.notReady(Standby.JOINING);
            case PENDING_SHUTDOWN, NOT_RUNNING -> health.notReady("closing");
            case PENDING_ERROR, ERROR -> health.failed("the Streams application has failed");
        }
    }
}
