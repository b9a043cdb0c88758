package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Reads from reports which tenant each GPU has. The regular stocks say it again and again; only what is new in them is
 * kept.
 */
final class ToldTenants {
    private final Map<GpuId, Optional<Tenant>> told = new HashMap<>();

    /**
     * Takes the next report of the topic.
     *
     * @return a stock of the GPUs whose tenant is new, or that have none any more; empty if there are none, or if the
     *     report itself says that its GPUs are free
     */
    Optional<ActuationReport> take(ActuationReport report) {
        return switch (report.outcome()) {
            case HOLDS, BOUND -> {
                List<GpuId> changed = report.gpus().stream()
                        .filter(gpu -> !Objects.equals(told.put(gpu, report.tenant()), report.tenant()))
                        .toList();
                yield changed.isEmpty() ? Optional.empty() : Optional.of(stock(report, changed));
            }
            case RELEASED, FORCED, FAILED -> {
                report.gpus().forEach(gpu -> told.put(gpu, Optional.empty()));
                yield Optional.empty();
            }
            default -> Optional.empty();
        };
    }

    private static ActuationReport stock(ActuationReport report, List<GpuId> gpus) {
        ActuationReport part = Parts.part(report, gpus);
        return new ActuationReport(
                part.domain(),
                part.decision(),
                part.actuator(),
                part.at(),
                Outcome.HOLDS,
                part.gpus(),
                part.tenant(),
                part.timings(),
                part.reason(),
                part.placements());
    }
}
