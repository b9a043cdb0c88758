package io.lendstream.schemas.topics;

import io.lendstream.core.decision.BatchingDecision;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.SnapshotPart;
import io.lendstream.schemas.topics.Topic.Cleanup;
import io.lendstream.schemas.topics.Topic.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * All topics, with their names under a site's prefix. A topic that people, agents and workloads write may exist
 * several times: the <em>base</em> topic, and one for each {@link DomainIntake} with the intake's name at its end.
 *
 * @param prefix prefix of all names; ends with {@code .} or {@code -}, or is empty
 * @param intakes intakes that are read in addition to the base topics
 * @param own the intake that this process writes to, instead of the base topics
 */
public record TopicCatalogue(String prefix, Intakes intakes, Optional<String> own) {
    public static final String DEFAULT_PREFIX = "lendstream.";

    public static final Topic<Node> NODES =
            compacted(Role.INTAKE, "nodes", "nodeId", Node.class, "inventory of a node");
    public static final Topic<GpuTelemetry> GPU_TELEMETRY = kept(
            Role.INTAKE, "gpu-telemetry", "nodeId", Duration.ofDays(1), GpuTelemetry.class, "sample of a node's GPUs");
    public static final Topic<InferenceService> SERVICES =
            compacted(Role.INTAKE, "services", "service", InferenceService.class, "an inference service and its SLO");
    public static final Topic<RequestRate> REQUEST_RATES = kept(
            Role.INTAKE,
            "request-rates",
            "service",
            Duration.ofDays(7),
            RequestRate.class,
            "offered and answered requests in a window");
    public static final Topic<TrainingJob> TRAINING_JOBS =
            compacted(Role.INTAKE, "training-jobs", "jobId", TrainingJob.class, "a training job");
    public static final Topic<TrainingProgress> TRAINING_PROGRESS = kept(
            Role.INTAKE,
            "training-progress",
            "jobId",
            Duration.ofDays(7),
            TrainingProgress.class,
            "progress of a training job");
    public static final Topic<ClusterQueue> QUEUES =
            compacted(Role.INTAKE, "queues", "queue", ClusterQueue.class, "a queue with its quotas");
    public static final Topic<DomainSettings> DOMAIN_SETTINGS = compacted(
            Role.INTAKE, "domain-settings", "domain", DomainSettings.class, "settings that a domain has of its own");
    public static final Topic<DemandForecast> DEMAND_FORECASTS = latestKept(
            Role.RESULT,
            "demand-forecasts",
            "service",
            Duration.ofDays(7),
            DemandForecast.class,
            "future demand of a service");
    public static final Topic<DomainEvent> DOMAIN_EVENTS = kept(
            Role.HISTORY,
            "domain-events",
            "domain",
            Duration.ofDays(30),
            DomainEvent.class,
            "all accepted events of a domain, in order");
    public static final Topic<Decision> DECISIONS = kept(
            Role.HISTORY,
            "decisions",
            "domain",
            Duration.ofDays(30),
            Decision.class,
            "all decisions of a domain, in order");
    /** Kept as long as the log: a snapshot of the time before its beginning is of no use. */
    public static final Topic<SnapshotPart> SNAPSHOTS = kept(
            Role.HISTORY,
            "snapshots",
            "domain",
            Duration.ofDays(30),
            SnapshotPart.class,
            "state of a domain after an event of its log, in parts");

    /** Outlives the log, from which a younger decision is explained with all facts. */
    public static final Topic<KeptReason> REASONS = kept(
            Role.HISTORY,
            "reasons",
            "domain",
            Duration.ofDays(400),
            KeptReason.class,
            "a decision with its alternatives and events, for the time after the log");

    public static final Topic<BatchingDecision> BATCHING_DECISIONS = latestKept(
            Role.RESULT,
            "batching-decisions",
            "service",
            Duration.ofDays(30),
            BatchingDecision.class,
            "batch settings of a service");
    public static final Topic<Lease> LEASES = compacted(
            Role.RESULT,
            "leases",
            "gpuUuid, or gpuUuid/start:size for a MIG instance",
            Lease.class,
            "current owner of a GPU");
    public static final Topic<ActuationReport> ACTUATION_REPORTS = kept(
            Role.HISTORY,
            "actuation-reports",
            "domain",
            Duration.ofDays(30),
            ActuationReport.class,
            "result of a decision");
    public static final Topic<ActuatorDescription> ACTUATORS = compacted(
            Role.RESULT,
            "actuators",
            "domain/actuator",
            ActuatorDescription.class,
            "the nodes of an actuator, and what its driver can do");
    public static final Topic<ControlCommand> CONTROL =
            kept(Role.INTAKE, "control", "domain", Duration.ofDays(30), ControlCommand.class, "command of an operator");
    public static final Topic<Progress> PROGRESS =
            compacted(Role.TIME, "progress", "service name", Progress.class, "event time that a service has reached");

    public static final List<Topic<?>> ALL = List.of(
            NODES,
            GPU_TELEMETRY,
            SERVICES,
            REQUEST_RATES,
            TRAINING_JOBS,
            TRAINING_PROGRESS,
            QUEUES,
            DOMAIN_SETTINGS,
            DEMAND_FORECASTS,
            DOMAIN_EVENTS,
            DECISIONS,
            SNAPSHOTS,
            REASONS,
            BATCHING_DECISIONS,
            LEASES,
            ACTUATION_REPORTS,
            ACTUATORS,
            CONTROL,
            PROGRESS);

    /** The input topics, which each intake has of its own. */
    public static final List<Topic<?>> OF_INTAKES =
            ALL.stream().filter(topic -> topic.role() == Role.INTAKE).toList();

    private static final char BEFORE_INTAKE = '.';

    /** How long dead letters are kept for inspection. */
    static final Duration DEAD_LETTER_RETENTION = Duration.ofDays(14);

    public TopicCatalogue {
        if (!prefix.matches("([a-zA-Z0-9-]+[.-])*") || prefix.length() > 200) {
            throw new IllegalArgumentException(
                    "a topic prefix must be letters, digits and '-', in parts that each end with '.' or '-', such as '%s', but was '%s'"
                            .formatted(DEFAULT_PREFIX, prefix));
        }
        own.ifPresent(DomainIntake::check);
    }

    /** The catalogue without intakes. */
    public TopicCatalogue(String prefix) {
        this(prefix, Intakes.NONE, Optional.empty());
    }

    /** The catalogue under {@value #DEFAULT_PREFIX}. */
    public static TopicCatalogue standard() {
        return new TopicCatalogue(DEFAULT_PREFIX);
    }

    /** The Kafka name of a base topic. */
    public String name(Topic<?> topic) {
        return prefix + topic.suffix();
    }

    /**
     * The Kafka name of an intake's own topic.
     *
     * @throws IllegalArgumentException if intakes have no such topic, or the intake's name is not valid
     */
    public String name(Topic<?> topic, String intake) {
        if (topic.role() != Role.INTAKE) {
            throw new IllegalArgumentException("intakes have no topic %s; only %s".formatted(topic, OF_INTAKES));
        }
        DomainIntake.check(intake);
        return name(topic) + BEFORE_INTAKE + intake;
    }

    /** The Kafka names of all topics that this process reads for a kind of record, the base topic first. */
    public List<String> names(Topic<?> topic) {
        if (topic.role() != Role.INTAKE) {
            return List.of(name(topic));
        }
        if (own.isPresent()) {
            return List.of(name(topic, own.get()));
        }
        List<String> names = new ArrayList<>();
        names.add(name(topic));
        intakes.names().forEach(intake -> names.add(name(topic, intake)));
        return names;
    }

    /** The Kafka name of the topic that this process writes a kind of record to. */
    public String target(Topic<?> topic) {
        return own.isPresent() && topic.role() == Role.INTAKE ? name(topic, own.get()) : name(topic);
    }

    /** The catalogue for a process that writes for one intake. */
    public TopicCatalogue writingFor(Optional<String> intake) {
        return new TopicCatalogue(prefix, intakes, intake);
    }

    /** The intake that a topic belongs to, even one that the site does not list; empty for a base topic. */
    public Optional<String> intakeOf(String topicName) {
        return split(topicName).map(topicName::substring);
    }

    /** Where the intake's name begins, so that most names are distinguished without a comparison. */
    private Optional<Integer> split(String topicName) {
        int dot = topicName.indexOf(BEFORE_INTAKE, prefix.length());
        boolean isOurs = dot > 0
                && dot < topicName.length() - 1
                && topicName.startsWith(prefix)
                && OF_INTAKES.stream().anyMatch(topic -> isNamed(topic, topicName, dot));
        return isOurs ? Optional.of(dot + 1) : Optional.empty();
    }

    private boolean isNamed(Topic<?> topic, String topicName, int end) {
        return topic.suffix().length() == end - prefix.length()
                && topicName.startsWith(topic.suffix(), prefix.length());
    }

    /**
     * Refuses a record that its intake may not write.
     *
     * @param topicName Kafka name of the topic with the record
     * @throws ForeignDomainException if the topic belongs to an intake that does not list the domain, or that the
     *     site does not list
     */
    public void check(String topicName, DomainId domain) {
        Optional<String> name = intakeOf(topicName);
        if (name.isEmpty() || name.equals(own)) {
            return;
        }
        DomainIntake intake =
                intakes.find(name.get()).orElseThrow(() -> new ForeignDomainException(topicName, name.get()));
        if (!intake.covers(domain)) {
            throw new ForeignDomainException(topicName, intake, domain);
        }
    }

    /** The dead-letter topic of a topic and of its intakes' topics. */
    public String deadLetters(Topic<?> topic) {
        return name(topic) + "-dlq";
    }

    /** The registry's subject of the topic's values. */
    public String subject(Topic<?> topic) {
        return subject(name(topic));
    }

    /** The registry's subject for a topic with this Kafka name. */
    static String subject(String topicName) {
        return topicName + "-value";
    }

    /** The topic with this Kafka name, as base topic or as topic of an intake of the site. */
    public Optional<Topic<?>> find(String name) {
        for (Topic<?> topic : ALL) {
            if (name(topic).equals(name)) {
                return Optional.of(topic);
            }
        }
        Optional<String> intake = intakes.isEmpty() && own.isEmpty() ? Optional.empty() : intakeOf(name);
        return intake.filter(known -> intakes.find(known).isPresent() || own.equals(intake))
                .flatMap(known -> OF_INTAKES.stream()
                        .filter(topic -> isNamed(topic, name, name.length() - known.length() - 1))
                        .findFirst());
    }

    /** All Kafka names of topics of the site, base topics first; without dead letters. */
    List<Named> everyName() {
        List<Named> all = new ArrayList<>();
        ALL.forEach(topic -> all.add(new Named(topic, name(topic), Optional.empty())));
        for (String intake : intakes.names()) {
            OF_INTAKES.forEach(topic -> all.add(new Named(topic, name(topic, intake), Optional.of(name(topic)))));
        }
        return all;
    }

    /** Part of the scheduler's topology description, which does not change for a site without intakes. */
    @Override
    public String toString() {
        return "TopicCatalogue[prefix=%s%s%s]"
                .formatted(
                        prefix,
                        intakes.isEmpty() ? "" : ", intakes=" + intakes,
                        own.map(name -> ", own=" + name).orElse(""));
    }

    /** A topic with one of its names; {@code base} is the base topic's name for an intake's topic. */
    record Named(Topic<?> topic, String name, Optional<String> base) {}

    private static <T> Topic<T> compacted(Role role, String suffix, String key, Class<T> type, String content) {
        return new Topic<>(suffix, role, key, Cleanup.COMPACT, Optional.empty(), type, content);
    }

    private static <T> Topic<T> kept(
            Role role, String suffix, String key, Duration retention, Class<T> type, String content) {
        return new Topic<>(suffix, role, key, Cleanup.DELETE, Optional.of(retention), type, content);
    }

    private static <T> Topic<T> latestKept(
            Role role, String suffix, String key, Duration retention, Class<T> type, String content) {
        return new Topic<>(suffix, role, key, Cleanup.COMPACT_DELETE, Optional.of(retention), type, content);
    }
}
