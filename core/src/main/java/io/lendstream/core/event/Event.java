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
}
