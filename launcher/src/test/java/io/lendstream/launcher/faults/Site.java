package io.lendstream.launcher.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.SimulatedCluster;
import io.lendstream.stack.Stack;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** A deployment with topics of its own on a broker that several share: two schedulers, an actuator, and what happens to them. */
final class Site implements AutoCloseable {
    /** Traits of a small job. */
    static final TrainingJob.Traits TRAITS = new TrainingJob.Traits(
            new BatchRange(128, 4096, 32, 1024, Optional.empty()),
            new GoodputProfile(
                    new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5), new GradientNoise(1, 1000)),
            new RescaleCosts(Duration.ofSeconds(2), Duration.ofSeconds(1)));

    static final DomainId DOMAIN = new DomainId("default");
    static final Duration PATIENCE = Duration.ofSeconds(90);

    private final Stack stack;
    private final Kafka where;
    private final Path directory;
    private final TopicCatalogue topics;
    private final KafkaSettings kafka;
    private final List<String> schedulerSettings;
    private final Optional<String> schedulerProgram;
    private final List<Instance> schedulers = new ArrayList<>();
    private final List<Instance> actuators = new ArrayList<>();
    private final Map<ServiceKind, Map<String, String>> environments = new EnumMap<>(ServiceKind.class);
    private int started;
    private boolean upgraded;

    /**
     * Where brokers are, as addresses that a client starts from.
     *
     * @param common the address of all other clients
     * @param firstScheduler the address for the scheduler that is started first
     * @param actuator the address for actuators
     * @param replication copies of each topic
     */
    record Kafka(String common, String firstScheduler, String actuator, int replication) {
        static Kafka at(String common, int replication) {
            return new Kafka(common, common, common, replication);
        }

        Kafka withFirstScheduler(String other) {
            return new Kafka(common, other, actuator, replication);
        }

        Kafka withActuator(String other) {
            return new Kafka(common, firstScheduler, other, replication);
        }
    }

    /**
     * A deployment whose topics are there, and none of whose services runs.
     *
     * @param stack whose registry and services it takes
     * @param where its brokers are
     * @param name of its topics and files
     * @param schedulerSettings additional settings of its schedulers
     * @param schedulerProgram the program started as scheduler until {@link #upgrade}; empty for the scheduler itself
     */
    Site(
            Stack stack,
            Kafka where,
            String name,
            Path parent,
            List<String> schedulerSettings,
            Optional<String> schedulerProgram) {
        this.stack = stack;
        this.where = where;
        this.directory = parent.resolve(name);
        this.topics = new TopicCatalogue(name + ".");
        this.schedulerSettings = List.copyOf(schedulerSettings);
        this.schedulerProgram = schedulerProgram;
        this.kafka = KafkaSettings.of(
                name,
                Settings.of(
                        CommonKeys.ALL,
                        "kafka.bootstrap.servers=" + where.common(),
                        "kafka.request.timeout.ms=5000",
                        "kafka.default.api.timeout.ms=60000",
                        "schema.registry.url=" + stack.confluentUrl()));
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, topics).create(1, where.replication());
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), topics).register();
    }

    KafkaSettings kafka() {
        return kafka;
    }

    TopicCatalogue topics() {
        return topics;
    }

    /** Starts one more scheduler; it need not be ready. */
    Instance startScheduler() {
        return startScheduler(where.common());
    }

    Instance startScheduler(String bootstrapServers) {
        started++;
        String name = "scheduler-" + started;
        List<String> settings = new ArrayList<>(List.of(
                "kafka.state.dir=" + directory.resolve(name),
                "scheduler.policy=lendstream:plan-every=2s:protect-scale=0.1",
                "scheduler.notice=10s",
                "scheduler.bind-deadline=20s",
                "scheduler.lease=40s"));
        settings.addAll(SimulatedCluster.SCHEDULER);
        settings.addAll(schedulerSettings);
        List<String> arguments = arguments(bootstrapServers, settings);
        Instance scheduler = schedulerProgram
                .filter(older -> !upgraded)
                .map(older ->
                        Instance.start(stack.installation(), ServiceKind.SCHEDULER, older, name, directory, arguments))
                .orElseGet(() -> Instance.start(
                        stack.installation(),
                        ServiceKind.SCHEDULER,
                        name,
                        directory,
                        arguments,
                        environments.getOrDefault(ServiceKind.SCHEDULER, Map.of())));
        schedulers.add(scheduler);
        return scheduler;
    }

    /** Services of this kind that are started from here on have these variables in their environment. */
    void environment(ServiceKind service, Map<String, String> variables) {
        environments.put(service, Map.copyOf(variables));
    }

    /** From here on the scheduler itself is started, whatever was before. */
    void upgrade() {
        upgraded = true;
    }

    Instance startActuator(String... more) {
        List<String> settings = new ArrayList<>(List.of(
                "actuator.state-dir=" + directory.resolve("actuator"),
                "actuator.lease-notice=10s",
                "actuator.simulated.bind=2s",
                "actuator.simulated.jitter=0.3"));
        settings.addAll(Arrays.asList(more));
        started++;
        Instance actuator = Instance.start(
                stack.installation(),
                ServiceKind.ACTUATOR,
                "actuator-" + started,
                directory,
                arguments(where.actuator(), settings),
                environments.getOrDefault(ServiceKind.ACTUATOR, Map.of()));
        actuators.add(actuator);
        return actuator;
    }

    /** Prints what each scheduler and actuator said last. */
    void printLogs(int lines) {
        for (Instance instance :
                Stream.concat(schedulers.stream(), actuators.stream()).toList()) {
            List<String> said = instance.printed().lines().toList();
            System.out.printf("-- %s, %s:%n", instance.name(), instance.isAlive() ? "alive" : "ended");
            said.subList(Math.max(0, said.size() - lines), said.size()).forEach(System.out::println);
        }
    }

    private List<String> arguments(String bootstrapServers, List<String> settings) {
        List<String> arguments = new ArrayList<>(List.of(
                "--bootstrap-server",
                bootstrapServers,
                "--registry",
                stack.confluentUrl().toString()));
        for (String setting : Stream.concat(
                        Stream.of("topic-prefix=" + topics.prefix(), "health.port=0"), settings.stream())
                .toList()) {
            arguments.addAll(List.of("--set", setting));
        }
        return arguments;
    }

    static void awaitReady(Instance... instances) {
        for (Instance instance : instances) {
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(200)).until(() -> {
                assertThat(instance.isAlive()).as(instance::printed).isTrue();
                return instance.isReady();
            });
        }
    }

    /** The scheduler that has the domain: the one that lives and has begun the highest epoch. */
    Instance active() {
        return schedulers.stream()
                .filter(scheduler -> scheduler.isAlive() && scheduler.epoch().isPresent())
                .max(Comparator.comparingLong(scheduler -> scheduler.epoch().orElse(0)))
                .orElseThrow(() -> new AssertionError("no scheduler has the domain"));
    }

    /** Its schedulers, in the order in which they were started. */
    List<Instance> running() {
        return List.copyOf(schedulers);
    }

    /** Ends one of its schedulers in order. */
    void stop(Instance scheduler) {
        scheduler.stop();
        forget(scheduler);
    }

    void forget(Instance scheduler) {
        schedulers.remove(scheduler);
    }

    Path directory() {
        return directory;
    }

    /** Writes a decision as a scheduler would, for a minute from now. */
    void decide(long sequence, Action action) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        try (RecordWriter writer = RecordWriter.open(kafka(), topics, "/test/scheduler")) {
            writer.write(
                    TopicCatalogue.DECISIONS,
                    DOMAIN.value(),
                    new Decision(
                            new DecisionId(DOMAIN, 1, sequence),
                            now,
                            now.plusSeconds(60),
                            false,
                            new Reason("plan", "", Map.of(), List.of()),
                            action));
            writer.flush();
        }
    }

    /** Every readable value of a topic, as it is now. */
    <T> List<T> read(Topic<T> topic) {
        var values = new ArrayList<T>();
        try (RecordReader reader = reader()) {
            reader.handing(topic, received -> received.value().ifPresent(values::add));
            reader.start(Map.of());
            while (!reader.hasCaughtUp()) {
                reader.poll(Duration.ofMillis(100));
            }
        }
        return values;
    }

    RecordReader reader() {
        return RecordReader.open(
                kafka,
                topics,
                new DeadLetters(letter -> {}, topics, "test", new SimpleMeterRegistry()),
                Duration.ofMinutes(5));
    }

    /** How many records a topic's dead letters hold. */
    long deadLetters(Topic<?> topic) {
        try (var consumer = new KafkaConsumer<byte[], byte[]>(kafka.consumer())) {
            return consumer.endOffsets(List.of(new TopicPartition(topics.deadLetters(topic), 0))).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    /**
     * The verdict of the checker after the scheduler has read every report. Services are stopped for it, actuators first: while they
     * run, their topics cannot be read at one moment. That decisions are those of the pure core on the recorded events is one of
     * its rules.
     */
    Verdict awaitCleanHistory() {
        actuators.forEach(Instance::kill);
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofSeconds(1))
                .untilAsserted(() -> assertThat(verdict().violations())
                        .noneMatch(violation -> violation.rule().equals("reports")));
        killSchedulers();
        Verdict[] last = new Verdict[1];
        await().atMost(PATIENCE).pollInterval(Duration.ofSeconds(1)).untilAsserted(() -> {
            last[0] = verdict();
            assertThat(last[0].violations()).isEmpty();
        });
        return last[0];
    }

    /** How many decisions of which kind there are. */
    Map<String, Long> kinds() {
        return decisions().stream()
                .collect(Collectors.groupingBy(
                        decision -> decision.action().kind(), TreeMap::new, Collectors.counting()));
    }

    private Verdict verdict() {
        List<ActuationReport> reports = read(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.domain().equals(DOMAIN))
                .toList();
        HistoryChecker checker = new HistoryChecker(DOMAIN);
        read(TopicCatalogue.DOMAIN_EVENTS).stream()
                .filter(event -> event.domain().equals(DOMAIN))
                .forEach(checker::take);
        reports.forEach(checker::heard);
        return checker.verdict(
                decisions(),
                read(TopicCatalogue.LEASES).stream()
                        .filter(lease -> lease.domain().equals(DOMAIN))
                        .toList());
    }

    /** The decisions of the good traffic's domain. */
    List<Decision> decisions() {
        return read(TopicCatalogue.DECISIONS).stream()
                .filter(decision -> decision.id().domain().equals(DOMAIN))
                .toList();
    }

    void killSchedulers() {
        schedulers.forEach(Instance::kill);
        schedulers.clear();
    }

    @Override
    public void close() {
        killSchedulers();
        actuators.forEach(Instance::kill);
    }
}
