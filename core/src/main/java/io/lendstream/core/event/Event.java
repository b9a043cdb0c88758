package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import java.time.Instant;

/** Something that happened to a domain. Its time is its own, not that of whoever reads it. */
public sealed interface Event
        permits Node,
                NodeLeft,
                GpuTelemetry,
                InferenceService,
                RequestRate,
                TrainingJob,
                TrainingProgress,
                DemandForecast,
                ActuationReport,
                ControlCommand,
                SchedulerStarted,
                Tick {
    DomainId domain();

    /** When it happened, to the millisecond. */
    Instant at();

    <T> T match(Cases<T> cases);

    /** A new kind of event breaks the build until every reader handles it. */
    interface Cases<T> {
        T node(Node node);

        T nodeLeft(NodeLeft left);

        T telemetry(GpuTelemetry telemetry);

        T service(InferenceService service);

        T rate(RequestRate rate);

        T job(TrainingJob job);

        T progress(TrainingProgress progress);

        T forecast(DemandForecast forecast);

        T report(ActuationReport report);

        T command(ControlCommand command);

        T started(SchedulerStarted started);

        T tick(Tick tick);
    }
}
