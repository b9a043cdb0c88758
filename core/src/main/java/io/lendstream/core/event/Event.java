package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.Optional;

/** Something that happened to a domain. Its time is the time of its source, not of its reader. */
public sealed interface Event
        permits Node,
                NodeLeft,
                GpuTelemetry,
                SampleSummary,
                InferenceService,
                RequestRate,
                TrainingJob,
                TrainingProgress,
                DemandForecast,
                ActuationReport,
                ControlCommand,
                ClusterQueue,
                ActuatorDescription,
                DomainSettings,
                SchedulerStarted,
                Tick {
    DomainId domain();

    /** When it happened, to the millisecond. */
    Instant at();

    <T> T match(Cases<T> cases);

    /** The inventory of a node, if it is one. */
    default Optional<Node> asNode() {
        return match(EventParts.NODE);
    }

    /** The node that was taken out, if it is one. */
    default Optional<NodeLeft> asNodeLeft() {
        return match(EventParts.NODE_LEFT);
    }

    /** The sample of a node, if it is one. */
    default Optional<GpuTelemetry> asTelemetry() {
        return match(EventParts.TELEMETRY);
    }

    /** The sum of samples, if it is one. */
    default Optional<SampleSummary> asSampleSummary() {
        return match(EventParts.SAMPLE_SUMMARY);
    }

    /** The description of a service, if it is one. */
    default Optional<InferenceService> asService() {
        return match(EventParts.SERVICE);
    }

    /** The request rate, if it is one. */
    default Optional<RequestRate> asRate() {
        return match(EventParts.RATE);
    }

    /** The description of a job, if it is one. */
    default Optional<TrainingJob> asJob() {
        return match(EventParts.JOB);
    }

    /** The forecast, if it is one. */
    default Optional<DemandForecast> asForecast() {
        return match(EventParts.FORECAST);
    }

    /** The service whose demand it is about, if it is a rate or a forecast. */
    default Optional<ServiceId> heardService() {
        return asRate().map(RequestRate::service).or(() -> asForecast().map(DemandForecast::service));
    }

    /** The report of an actuator, if it is one. */
    default Optional<ActuationReport> asReport() {
        return match(EventParts.REPORT);
    }

    /** The command of an operator, if it is one. */
    default Optional<ControlCommand> asCommand() {
        return match(EventParts.COMMAND);
    }

    /** The declaration of a queue, if it is one. */
    default Optional<ClusterQueue> asQueue() {
        return match(EventParts.QUEUE);
    }

    /** The description of an actuator, if it is one. */
    default Optional<ActuatorDescription> asDescription() {
        return match(EventParts.DESCRIPTION);
    }

    /** The declared settings of the domain, if it is a declaration of them. */
    default Optional<DomainSettings> asDomainSettings() {
        return match(EventParts.DOMAIN_SETTINGS);
    }

    /** The start of a scheduler, if it is one. */
    default Optional<SchedulerStarted> asStarted() {
        return match(EventParts.STARTED);
    }

    /** Whether the settings of the domain may have changed with it: a start of a scheduler, or declared settings. */
    default boolean changesSettings() {
        return asStarted().isPresent() || asDomainSettings().isPresent();
    }

    /** Whether it is only time that has passed. */
    default boolean isTick() {
        return match(EventParts.TICK).isPresent();
    }

    /** A new kind of event breaks the build until every reader handles it. */
    interface Cases<T> {
        T node(Node node);

        T nodeLeft(NodeLeft left);

        T telemetry(GpuTelemetry telemetry);

        T sampleSummary(SampleSummary summary);

        T service(InferenceService service);

        T rate(RequestRate rate);

        T job(TrainingJob job);

        T progress(TrainingProgress progress);

        T forecast(DemandForecast forecast);

        T report(ActuationReport report);

        T command(ControlCommand command);

        T clusterQueue(ClusterQueue queue);

        T actuatorDescription(ActuatorDescription description);

        T domainSettings(DomainSettings settings);

        T started(SchedulerStarted started);

        T tick(Tick tick);
    }
}
