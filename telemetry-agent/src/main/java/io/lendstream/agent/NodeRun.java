package io.lendstream.agent;

import io.lendstream.agent.gpu.GpuProbe;
import io.lendstream.agent.gpu.GpuProbes;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.agent.kubernetes.ApiServer;
import io.lendstream.agent.kubernetes.OwnNode;
import io.lendstream.agent.kubernetes.PodReader;
import io.lendstream.agent.publish.BrokerTarget;
import io.lendstream.agent.publish.Publisher;
import io.lendstream.agent.publish.RecordSink;
import io.lendstream.agent.users.Users;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.health.Health;
import io.lendstream.service.host.HostName;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.text.FileErrors;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the agent of this machine: reads its GPUs and its servers' counters, and publishes both. */
final class NodeRun {
    private static final Logger LOG = LoggerFactory.getLogger(NodeRun.class);

    static final List<Topic<?>> TOPICS =
            List.of(TopicCatalogue.NODES, TopicCatalogue.GPU_TELEMETRY, TopicCatalogue.REQUEST_RATES);

    /** How long a stop waits for delivery. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(3);
    /** How long an interrupted reading may take to end. */
    private static final Duration ENDING = Duration.ofMillis(500);
    /** How long --once waits for the broker. */
    private static final Duration ONCE = Duration.ofSeconds(20);
    /** How soon the GPUs are released for maintenance: a MIG change does not wait for the next sample. */
    private static final Duration HEED = Duration.ofSeconds(1);
    /** The pause between two reads of the GPUs, if activity is measured between them. */
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    private final ServiceContext context;
    private final Settings settings;
    private final Identity identity;
    private final Backend backend;
    private final UserSettings sources;

    NodeRun(ServiceContext context, Backend backend) {
        this.context = context;
        this.settings = context.settings();
        this.backend = backend;
        this.sources = new UserSettings(settings, backend, new HostProcesses());
        this.identity = new Identity(
                new NodeId(HostName.or(settings.get(AgentKeys.NODE), AgentKeys.NODE.name())),
                new DomainId(settings.get(AgentKeys.DOMAIN)),
                settings.get(AgentKeys.POOL),
                SimulatedRun.boot(),
                backend == Backend.RECORDED ? HostProbe.declared(settings) : HostProbe.LOCAL.facts(settings));
        if (context.isVirtual()) {
            throw new SettingsException(
                    "time is virtual, but agent.backend is %s, which needs the wall clock. Use the simulated backend, or leave time out."
                            .formatted(backend));
        }
    }

    /** Checks the settings; throws if they are invalid. */
    void check() {
        RateSettings.of(settings, identity);
        if (settings.get(AgentKeys.KUBERNETES)) {
            apiServer();
        }
        probe().close();
        sources.check();
    }

    /** Samples until it is stopped; the broker may come and go. */
    void serve(Consumer<NodeWatch> onlooker) {
        LOG.info("{}", sources.inWords());
        try (GpuProbe probe = probe();
                Users users = sources.open();
                Asked asked = asked();
                Publisher publisher = publisher()) {
            NodeWatch watch = watch(probe, users, asked, publisher);
            onlooker.accept(watch);
            try (RateWatch rates =
                    RateSettings.of(settings, identity).watch(publisher, asked.node(), context.metrics())) {
                Thread counting = beating("rates", settings.get(AgentKeys.RATE_PERIOD), rates::look);
                if (!rates.isEmpty()) {
                    counting.start();
                }
                Thread heeding = beating("breaks", HEED, () -> watch.heed(now()));
                heeding.start();
                FixedRateLoop.run(settings.get(AgentKeys.PERIOD), context.stop(), () -> {
                    Optional<Duration> again = watch.look(now());
                    tell(context.health(), publisher.ended(), publisher.trouble());
                    return again;
                });
                rates.stop();
                await(counting);
                await(heeding);
            }
            publisher.drain(LAST_WORDS);
        }
    }

    private Thread beating(String name, Duration period, Runnable work) {
        Thread thread = new Thread(
                () -> FixedRateLoop.run(period, context.stop(), () -> {
                    work.run();
                    return Optional.empty();
                }),
                name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Sets the agent's health from the state of delivery.
     *
     * @param ended why nothing will be delivered until a restart
     * @param trouble why nothing is delivered now
     */
    static void tell(Health health, Optional<String> ended, Optional<String> trouble) {
        ended.ifPresent(health::failed);
        trouble.ifPresentOrElse(why -> health.notReady("records are queued: " + why), health::ready);
    }

    /** Running reads are finished before the last records are sent. */
    private static void await(Thread thread) {
        try {
            thread.join(ENDING.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Takes one sample. It fails if neither a GPU nor a request rate was read.
     *
     * @param publish whether to publish it too
     */
    void once(boolean publish, Printer printer) throws InterruptedException {
        var collected = new Collected();
        Optional<String> unread;
        try (GpuProbe probe = probe();
                Users users = sources.open();
                Asked asked = asked();
                RateWatch rates =
                        RateSettings.of(settings, identity).watch(collected, asked.node(), context.metrics())) {
            if (asked.node().isPresent()) {
                asked.node().get().awaitFirst(settings.get(AgentKeys.RATE_TIMEOUT));
            }
            NodeWatch watch = watch(probe, users, asked, collected);
            watch.look(now());
            rates.look();
            Thread.sleep((rates.isEmpty() ? BETWEEN_LOOKS : RateSettings.BETWEEN_READINGS).toMillis());
            watch.look(now());
            rates.look();
            printer.print(
                    collected.nodes(),
                    collected.samples(),
                    watch.latest().map(GpuSnapshot::cause).orElse(""));
            printer.printRates(collected.rates());
            unread = watch.latest().filter(any -> collected.rates().isEmpty()).flatMap(sight -> unread(backend, sight));
        }
        if (publish) {
            publish(collected);
        }
        if (unread.isPresent()) {
            throw new UnreachableException(unread.get(), null);
        }
    }

    /** Why no GPU was read, and the way out; empty if one was, and for a recording, which has been read. */
    static Optional<String> unread(Backend backend, GpuSnapshot sight) {
        if (sight.status() != NodeStatus.UNAVAILABLE || backend == Backend.RECORDED) {
            return Optional.empty();
        }
        String remedy = backend == Backend.DCGM
                ? "Check agent.dcgm-url and the dcgm-exporter"
                : "Install NVIDIA's driver, give the container its libraries, use --backend dcgm with agent.dcgm-url";
        return Optional.of(
                "agent.backend is %s, but no GPU was read: %s. %s, or use --backend simulated for GPUs that do not exist."
                        .formatted(backend, sight.cause().replaceFirst("\\.$", ""), remedy));
    }

    /** Publishes printed records; they stay printed even if this fails. */
    private void publish(Collected collected) {
        try {
            Connection.check(context.kafka(), context.topics(), TOPICS, settings.get(CommonKeys.CONNECT_TIMEOUT));
        } catch (UnreachableException e) {
            throw new UnreachableException(
                    "%d records (%s) were printed, but not published: %s To only print, use --dry-run."
                            .formatted(collected.count(), collected.topics(), e.getMessage()),
                    e);
        }
        try (Publisher publisher = publisher()) {
            collected.publishTo(publisher);
            if (!publisher.drain(ONCE)) {
                throw new UnreachableException(
                        "%d of %d records (%s) were printed, but not published within %d s: %s. Check the broker and the registry, or use --dry-run."
                                .formatted(
                                        publisher.waiting(),
                                        collected.count(),
                                        collected.topics(),
                                        ONCE.toSeconds(),
                                        publisher.trouble().orElse("the broker is slow")),
                        null);
            }
        }
    }

    /** This node's objects in the API server; empty if it is not asked. */
    private record Asked(Optional<OwnNode> node) implements AutoCloseable {
        Optional<String> migChange() {
            return node.flatMap(OwnNode::migChange);
        }

        @Override
        public void close() {
            node.ifPresent(OwnNode::close);
        }
    }

    private Asked asked() {
        if (!settings.get(AgentKeys.KUBERNETES)) {
            return new Asked(Optional.empty());
        }
        var reader = new PodReader(
                RateSettings.of(settings, identity).presets(), Set.copyOf(settings.get(AgentKeys.POD_NAMESPACES)));
        return new Asked(Optional.of(OwnNode.follow(apiServer(), identity.node().value(), reader, context.metrics())));
    }

    private ApiServer apiServer() {
        try {
            return ApiServer.of(
                    settings.get(AgentKeys.KUBERNETES_URL),
                    settings.get(AgentKeys.KUBERNETES_ACCOUNT),
                    System.getenv());
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
    }

    private NodeWatch watch(GpuProbe probe, Users users, Asked asked, RecordSink outbox) {
        return new NodeWatch(
                identity,
                probe,
                users,
                new Maintenance(
                        settings.get(AgentKeys.MAINTENANCE_FILE),
                        settings.get(AgentKeys.MIG_STATE_FILE),
                        asked::migChange),
                settings.get(AgentKeys.INVENTORY_EVERY),
                outbox,
                context.metrics());
    }

    private Publisher publisher() {
        Optional<Path> directory = settings.get(AgentKeys.SPOOL_DIR);
        long bound = settings.get(AgentKeys.SPOOL_BYTES);
        try {
            return Publisher.start(
                    BrokerTarget.to(
                            context.kafka(),
                            context.topics(),
                            TOPICS,
                            settings.get(CommonKeys.CONNECT_TIMEOUT),
                            "/lendstream/agent/" + identity.node()),
                    identity.boot(),
                    directory,
                    directory.isPresent() ? bound : bound / 8,
                    context.metrics());
        } catch (IOException e) {
            throw new SettingsException(
                    "agent.spool-dir is %s, which cannot be used: %s. Name a directory that this user may write to and no other agent uses."
                            .formatted(directory.map(Path::toString).orElse("nothing"), FileErrors.ofDirectory(e)),
                    e);
        }
    }

    private GpuProbe probe() {
        Duration patience = settings.get(AgentKeys.PROBE_PATIENCE);
        List<String> libraries = settings.get(AgentKeys.NVML_LIBRARIES);
        try {
            return switch (backend) {
                case NVML -> GpuProbes.nvml(libraries, patience, sources.needProcesses());
                case DCGM -> GpuProbes.dcgm(dcgm(), patience);
                case RECORDED -> GpuProbes.recorded(recording(), true);
                case SIMULATED -> throw new IllegalStateException("the simulated backend does not read this machine");
            };
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
    }

    private URI dcgm() {
        String url = settings.get(AgentKeys.DCGM_URL);
        try {
            return URI.create(url.isBlank() ? "http://localhost:9400/metrics" : url.strip());
        } catch (IllegalArgumentException e) {
            throw new SettingsException(
                    "agent.dcgm-url is '%s', but must be a URL such as http://localhost:9400/metrics.".formatted(url),
                    e);
        }
    }

    private Path recording() {
        return settings.get(AgentKeys.RECORDING)
                .orElseThrow(() -> new SettingsException(
                        "agent.backend is recorded, but agent.recording is not set. Set it to the recording to play."));
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }
}
