package io.lendstream.schemas.topics;

import io.lendstream.core.decision.BatchingDecision;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.topics.Topic.Cleanup;
import io.lendstream.schemas.topics.Topic.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Every topic there is, and the names that a site's prefix gives them. A topic that people, agents and workloads write to may
 * exist several times: the <em>base</em> topic, and one for each {@link DomainIntake}, with the intake's name at its end.
 *
 * @param prefix what every name starts with; ends with {@code .} or {@code -}, or is empty
 * @param intakes that are read beside the base topics
 * @param own the intake whose topics this process uses in place of the base topics, where it writes for one group
 */
public record TopicCatalogue(String prefix, Intakes intakes, Optional<String> own) {
    public static final String DEFAULT_PREFIX = "lendstream.";

    public static final Topic<Node> NODES = compacted(Role.INTAKE, "nodes", "nodeId", Node.class, "a node's inventory");
    public static final Topic<GpuTelemetry> GPU_TELEMETRY = kept(
            Role.INTAKE,
            "gpu-telemetry",
            "nodeId",
            Duration.ofDays(1),
            GpuTelemetry.class,
            "one node's sample of its GPUs");
    public static final Topic<InferenceService> SERVICES = compacted(
            Role.INTAKE, "services", "service", InferenceService.class, "what an inference service is and promises");
    public static final Topic<RequestRate> REQUEST_RATES = kept(
            Role.INTAKE,
            "request-rates",
            "service",
            Duration.ofDays(7),
            RequestRate.class,
            "offered and answered requests of a window");
    public static final Topic<TrainingJob> TRAINING_JOBS =
            compacted(Role.INTAKE, "training-jobs", "jobId", TrainingJob.class, "a training job as submitted");
    public static final Topic<TrainingProgress> TRAINING_PROGRESS = kept(
            Role.INTAKE,
            "training-progress",
            "jobId",
            Duration.ofDays(7),
            TrainingProgress.class,
            "how a training job gets on");
    public static final Topic<DemandForecast> DEMAND_FORECASTS = latestKept(
            Role.RESULT,
            "demand-forecasts",
            "service",
            Duration.ofDays(7),
            DemandForecast.class,
            "a service's demand ahead of time");
    public static final Topic<DomainEvent> DOMAIN_EVENTS = kept(
            Role.HISTORY,
            "domain-events",
            "domain",
            Duration.ofDays(30),
            DomainEvent.class,
            "every accepted event, in its domain's order");
    public static final Topic<Decision> DECISIONS = kept(
            Role.HISTORY,
            "decisions",
            "domain",
            Duration.ofDays(30),
            Decision.class,
            "every decision, in its domain's order");
    public static final Topic<BatchingDecision> BATCHING_DECISIONS = latestKept(
            Role.RESULT,
            "batching-decisions",
            "service",
            Duration.ofDays(30),
            BatchingDecision.class,
            "how a service is to batch");
    public static final Topic<Lease> LEASES = compacted(
            Role.RESULT,
            "leases",
            "gpuUuid, or gpuUuid/start:size for a MIG instance",
            Lease.class,
            "who owns a GPU now");
    public static final Topic<ActuationReport> ACTUATION_REPORTS = kept(
            Role.HISTORY,
            "actuation-reports",
            "domain",
            Duration.ofDays(30),
            ActuationReport.class,
            "what an actuator did with a decision");
    public static final Topic<ControlCommand> CONTROL = kept(
            Role.INTAKE,
            "control",
            "domain",
            Duration.ofDays(30),
            ControlCommand.class,
            "what a person tells the scheduler");
    public static final Topic<Progress> PROGRESS = compacted(
            Role.TIME, "progress", "service name", Progress.class, "event time up to which a service has answered");

    public static final List<Topic<?>> ALL = List.of(
            NODES,
            GPU_TELEMETRY,
            SERVICES,
            REQUEST_RATES,
            TRAINING_JOBS,
            TRAINING_PROGRESS,
            DEMAND_FORECASTS,
            DOMAIN_EVENTS,
            DECISIONS,
            BATCHING_DECISIONS,
            LEASES,
            ACTUATION_REPORTS,
            CONTROL,
            PROGRESS);

    /** The topics that an intake has of its own: those that are written from outside. */
    public static final List<Topic<?>> OF_INTAKES =
            ALL.stream().filter(topic -> topic.role() == Role.INTAKE).toList();

    private static final char BEFORE_INTAKE = '.';

    /** How long dead letters wait for somebody to look at them. */
    static final Duration DEAD_LETTER_RETENTION = Duration.ofDays(14);

    public TopicCatalogue {
        if (!prefix.matches("([a-zA-Z0-9-]+[.-])*") || prefix.length() > 200) {
            throw new IllegalArgumentException(
                    "a topic prefix must be letters, digits and '-', in parts that each end with '.' or '-', such as '%s', but was '%s'"
                            .formatted(DEFAULT_PREFIX, prefix));
        }
        own.ifPresent(DomainIntake::check);
    }

    /** The base topics alone. */
    public TopicCatalogue(String prefix) {
        this(prefix, Intakes.NONE, Optional.empty());
    }

    /** The catalogue under {@value #DEFAULT_PREFIX}. */
    public static TopicCatalogue standard() {
        return new TopicCatalogue(DEFAULT_PREFIX);
    }

    /** The name in Kafka of the base topic. */
    public String name(Topic<?> topic) {
        return prefix + topic.suffix();
    }

    /**
     * The name in Kafka of an intake's own topic.
     *
     * @throws IllegalArgumentException where intakes have no such topic, or the name is no intake's
     */
    public String name(Topic<?> topic, String intake) {
        if (topic.role() != Role.INTAKE) {
            throw new IllegalArgumentException("intakes have no topic %s; only %s".formatted(topic, OF_INTAKES));
        }
        DomainIntake.check(intake);
        return name(topic) + BEFORE_INTAKE + intake;
    }

    /** The names in Kafka of all topics that this process reads such records from: the base topic first. */
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

    /** The name in Kafka of the topic that this process writes such records to. */
    public String target(Topic<?> topic) {
        return own.isPresent() && topic.role() == Role.INTAKE ? name(topic, own.get()) : name(topic);
    }

    /** The same topics for a process that writes for one intake. */
    public TopicCatalogue writingFor(Optional<String> intake) {
        return new TopicCatalogue(prefix, intakes, intake);
    }

    /** The name of the intake that a topic is of; empty for a base topic. Intakes that the site does not list count too. */
    public Optional<String> intakeOf(String topicName) {
        return split(topicName).map(topicName::substring);
    }

    /** Where the intake's name begins; records are asked for it, so that most names are told apart without comparing. */
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
     * Refuses a record that an intake may not write.
     *
     * @param topicName name in Kafka of the topic that the record was found in
     * @throws ForeignDomainException where the topic is an intake's that does not list the domain, or that the site does not list
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

    /** Where records of the topic, and of the same topic of every intake, go that nobody can read. */
    public String deadLetters(Topic<?> topic) {
        return name(topic) + "-dlq";
    }

    /** The registry's name for what the topic's values are written in. */
    public String subject(Topic<?> topic) {
        return subject(name(topic));
    }

    /** The same for a topic of this name in Kafka. */
    static String subject(String topicName) {
        return topicName + "-value";
    }

    /** The topic that has this name in Kafka, as base topic or as that of an intake of the site, if it is one of ours. */
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

    /** Every name of a topic in Kafka that the site has, base topics first; without dead letters. */
    List<Named> everyName() {
        List<Named> all = new ArrayList<>();
        ALL.forEach(topic -> all.add(new Named(topic, name(topic), Optional.empty())));
        for (String intake : intakes.names()) {
            OF_INTAKES.forEach(topic -> all.add(new Named(topic, name(topic, intake), Optional.of(name(topic)))));
        }
        return all;
    }

    /** Part of the description of the scheduler's topology, which stays as it is for a site without intakes. */
    @Override
    public String toString() {
        return "TopicCatalogue[prefix=%s%s%s]"
                .formatted(
                        prefix,
                        intakes.isEmpty() ? "" : ", intakes=" + intakes,
                        own.map(name -> ", own=" + name).orElse(""));
    }

    /** A topic under one of its names; {@code base} is the base topic's where it is an intake's. */
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
