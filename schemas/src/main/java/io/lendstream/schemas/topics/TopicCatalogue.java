package io.lendstream.schemas.topics;

import io.lendstream.core.cluster.Lease;
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
import io.lendstream.schemas.topics.Topic.Cleanup;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Every topic there is, and the names that a site's prefix gives them.
 *
 * @param prefix what every name starts with; ends with {@code .} or {@code -}, or is empty
 */
public record TopicCatalogue(String prefix) {
    public static final String DEFAULT_PREFIX = "lendstream.";

    public static final Topic<Node> NODES = compacted("nodes", "nodeId", Node.class, "a node's inventory");
    public static final Topic<GpuTelemetry> GPU_TELEMETRY =
            kept("gpu-telemetry", "nodeId", Duration.ofDays(1), GpuTelemetry.class, "one node's sample of its GPUs");
    public static final Topic<InferenceService> SERVICES =
            compacted("services", "service", InferenceService.class, "what an inference service is and promises");
    public static final Topic<RequestRate> REQUEST_RATES = kept(
            "request-rates",
            "service",
            Duration.ofDays(7),
            RequestRate.class,
            "offered and answered requests of a window");
    public static final Topic<TrainingJob> TRAINING_JOBS =
            compacted("training-jobs", "jobId", TrainingJob.class, "a training job as submitted");
    public static final Topic<TrainingProgress> TRAINING_PROGRESS = kept(
            "training-progress", "jobId", Duration.ofDays(7), TrainingProgress.class, "how a training job gets on");
    public static final Topic<DemandForecast> DEMAND_FORECASTS = latestKept(
            "demand-forecasts",
            "service",
            Duration.ofDays(7),
            DemandForecast.class,
            "a service's demand ahead of time");
    public static final Topic<DomainEvent> DOMAIN_EVENTS = kept(
            "domain-events",
            "domain",
            Duration.ofDays(30),
            DomainEvent.class,
            "every accepted event, in its domain's order");
    public static final Topic<Decision> DECISIONS =
            kept("decisions", "domain", Duration.ofDays(30), Decision.class, "every decision, in its domain's order");
    public static final Topic<BatchingDecision> BATCHING_DECISIONS = latestKept(
            "batching-decisions", "service", Duration.ofDays(30), BatchingDecision.class, "how a service is to batch");
    public static final Topic<Lease> LEASES =
            compacted("leases", "gpuUuid, or gpuUuid/start:size for a MIG instance", Lease.class, "who owns a GPU now");
    public static final Topic<ActuationReport> ACTUATION_REPORTS = kept(
            "actuation-reports",
            "domain",
            Duration.ofDays(30),
            ActuationReport.class,
            "what an actuator did with a decision");
    public static final Topic<ControlCommand> CONTROL =
            kept("control", "domain", Duration.ofDays(30), ControlCommand.class, "what a person tells the scheduler");
    public static final Topic<Progress> PROGRESS =
            compacted("progress", "service name", Progress.class, "event time up to which a service has answered");

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

    /** How long dead letters wait for somebody to look at them. */
    static final Duration DEAD_LETTER_RETENTION = Duration.ofDays(14);

    public TopicCatalogue {
        if (!prefix.matches("([a-zA-Z0-9-]+[.-])*") || prefix.length() > 200) {
            throw new IllegalArgumentException(
                    "a topic prefix must be letters, digits and '-', in parts that each end with '.' or '-', such as '%s', but was '%s'"
                            .formatted(DEFAULT_PREFIX, prefix));
        }
    }

    /** The catalogue under {@value #DEFAULT_PREFIX}. */
    public static TopicCatalogue standard() {
        return new TopicCatalogue(DEFAULT_PREFIX);
    }

    /** The topic's name in Kafka. */
    public String name(Topic<?> topic) {
        return prefix + topic.suffix();
    }

    /** Where records of the topic go that nobody can read. */
    public String deadLetters(Topic<?> topic) {
        return name(topic) + "-dlq";
    }

    /** The registry's name for what the topic's values are written in. */
    public String subject(Topic<?> topic) {
        return name(topic) + "-value";
    }

    /** The topic that has this name in Kafka, if it is one of ours. */
    public Optional<Topic<?>> find(String name) {
        for (Topic<?> topic : ALL) {
            if (name(topic).equals(name)) {
                return Optional.of(topic);
            }
        }
        return Optional.empty();
    }

    private static <T> Topic<T> compacted(String suffix, String key, Class<T> type, String content) {
        return new Topic<>(suffix, key, Cleanup.COMPACT, Optional.empty(), type, content);
    }

    private static <T> Topic<T> kept(String suffix, String key, Duration retention, Class<T> type, String content) {
        return new Topic<>(suffix, key, Cleanup.DELETE, Optional.of(retention), type, content);
    }

    private static <T> Topic<T> latestKept(
            String suffix, String key, Duration retention, Class<T> type, String content) {
        return new Topic<>(suffix, key, Cleanup.COMPACT_DELETE, Optional.of(retention), type, content);
    }
}
