package io.lendstream.service.text;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.QuotaUse;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** An event as text for people: a line for each kind of event. GPUs have uuids here. */
public final class EventGist implements Event.Cases<String> {
    private static final EventGist WORDS = new EventGist();

    private static final ClassValue<String> KINDS = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> type) {
            return type.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
        }
    };

    private EventGist() {}

    /** A summary of an event. */
    public static String of(Event event) {
        return event.match(WORDS);
    }

    /** The kind of an event, such as {@code request-rate}. */
    public static String kind(Event event) {
        return KINDS.get(event.getClass());
    }

    /** The kind of a command and its reason. */
    public static String order(ControlCommand command) {
        return lower(command.kind())
                + command.trust()
                        .map(order -> " " + order.level().label()
                                + order.service().map(name -> " " + name).orElse("")
                                + (order.anyway() ? ", anyway" : ""))
                        .orElse("")
                + (command.reason().isEmpty() ? "" : " (" + command.reason() + ")");
    }

    /** The names of GPUs, between commas. */
    public static String list(List<GpuId> gpus) {
        return gpus.stream().map(GpuId::value).collect(Collectors.joining(", "));
    }

    /** A constant as a word. */
    public static String lower(Enum<?> word) {
        return word.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public String rate(RequestRate rate) {
        return "%.1f requests/s offered to %s from %s to %s%s"
                .formatted(
                        rate.arrivalsPerSecond(),
                        rate.service(),
                        Times.column(rate.windowStart()),
                        Times.at(rate.windowEnd()),
                        rate.requests().queueDepth() > 0
                                ? ", %d in the queue".formatted(rate.requests().queueDepth())
                                : "");
    }

    @Override
    public String forecast(DemandForecast forecast) {
        HorizonQuantiles last = forecast.horizons().get(forecast.horizons().size() - 1);
        return "forecast for %s: %.1f requests/s in %d min, below %.1f with 99 %% probability%s"
                .formatted(
                        forecast.service(),
                        last.p50(),
                        last.horizon().toMinutes(),
                        last.p99(),
                        last.gpus()
                                .map(gpus -> " (%d and %d GPUs)".formatted(gpus.p50(), gpus.p99()))
                                .orElse(""));
    }

    @Override
    public String report(ActuationReport report) {
        return "%s reported %s: %s%s%s"
                .formatted(
                        report.actuator(),
                        report.decision(),
                        lower(report.outcome()),
                        report.gpus().isEmpty() ? "" : " " + list(report.gpus()),
                        report.reason().isEmpty() ? "" : " (" + report.reason() + ")");
    }

    @Override
    public String job(TrainingJob job) {
        return "job %s submitted: %d to %d GPUs, asked for %d%s"
                .formatted(
                        job.job(),
                        job.scaling().minGpus(),
                        job.scaling().maxGpus(),
                        job.scaling().requestedGpus(),
                        job.hardDeadline()
                                .map(at -> ", hard deadline " + Times.at(at))
                                .orElse(""));
    }

    @Override
    public String progress(TrainingProgress progress) {
        return "job %s is %s on %s, %.0f iterations done"
                .formatted(
                        progress.job(),
                        lower(progress.phase()),
                        Reason.counted(progress.parallelism().replicas(), "GPU"),
                        progress.progress());
    }

    @Override
    public String node(Node node) {
        return "node %s has %s and is %s%s"
                .formatted(
                        node.nodeId(),
                        Reason.counted(node.gpus().size(), "GPU"),
                        lower(node.status()),
                        node.why().isEmpty() ? "" : " (" + node.why() + ")");
    }

    @Override
    public String nodeLeft(NodeLeft left) {
        return "node %s left".formatted(left.nodeId());
    }

    @Override
    public String telemetry(GpuTelemetry sample) {
        return "sample of node %s".formatted(sample.nodeId());
    }

    @Override
    public String sampleSummary(SampleSummary summary) {
        return "samples of %s that changed nothing"
                .formatted(Reason.counted(summary.nodes().size(), "node"));
    }

    @Override
    public String service(InferenceService service) {
        return "service %s: floor %d, %.1f requests/s per replica%s"
                .formatted(
                        service.service(),
                        service.floorReplicas(),
                        service.replicaCapacityPerSecond(),
                        service.capacities().stream()
                                        .map(each -> ", %.1f on %s"
                                                .formatted(service.capacityOn(Optional.of(each.kind())), each.kind()))
                                        .collect(Collectors.joining())
                                + service.hardware().shapes().stream()
                                        .map(shape -> ", shape " + shape.inWords())
                                        .collect(Collectors.joining())
                                + service.hardware().roleFloors().stream()
                                        .map(floor -> ", floor %d of role %s"
                                                .formatted(
                                                        floor.replicas(),
                                                        floor.role().inWords()))
                                        .collect(Collectors.joining()));
    }

    @Override
    public String command(ControlCommand command) {
        return "%s ordered: %s".formatted(command.issuer(), order(command));
    }

    @Override
    public String clusterQueue(ClusterQueue queue) {
        return "queue %s%s: %s"
                .formatted(
                        queue.queue(),
                        queue.cohort().map(cohort -> " of cohort " + cohort).orElse(""),
                        queue.quotas().stream()
                                .map(quota -> "nominal quota %s GPUs%s"
                                        .formatted(
                                                QuotaUse.text(quota.nominalQuota()),
                                                quota.kind()
                                                        .map(kind -> " of " + kind)
                                                        .orElse("")))
                                .collect(Collectors.joining(", ")));
    }

    @Override
    public String domainSettings(DomainSettings settings) {
        return settings.removed()
                ? "the domain has the settings of the configuration again"
                : "the domain has settings of its own: "
                        + settings.settings().entrySet().stream()
                                .map(each -> each.getKey() + "=" + each.getValue())
                                .collect(Collectors.joining(", "));
    }

    @Override
    public String actuatorDescription(ActuatorDescription description) {
        return "actuator %s with driver %s for %s: %s"
                .formatted(
                        description.actuator(),
                        description.driver(),
                        description.nodes().isEmpty()
                                ? "all nodes"
                                : Reason.counted(description.nodes().size(), "node"),
                        description.abilities().inWords());
    }

    @Override
    public String started(SchedulerStarted started) {
        return "scheduler started, epoch %d, policy %s".formatted(started.epoch(), started.policy());
    }

    @Override
    public String tick(Tick tick) {
        return "time has advanced";
    }
}
