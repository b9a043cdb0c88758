package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.service.text.Times;
import java.util.Optional;
import java.util.stream.Collectors;

/** One line for each kind of event. */
final class EventGist implements Event.Cases<String> {
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
                        EventText.lower(report.outcome()),
                        report.gpus().isEmpty() ? "" : " " + EventText.list(report.gpus()),
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
                        EventText.lower(progress.phase()),
                        Reason.counted(progress.parallelism().replicas(), "GPU"),
                        progress.progress());
    }

    @Override
    public String node(Node node) {
        return "node %s has %s and is %s%s"
                .formatted(
                        node.nodeId(),
                        Reason.counted(node.gpus().size(), "GPU"),
                        EventText.lower(node.status()),
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
        return "%s ordered: %s".formatted(command.issuer(), EventText.order(command));
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
