package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.EmptyReports;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Vacancy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Ends quarantines by evidence: for some time without a gap the agent says that nothing uses the unit, and the actuator
 * says that no tenant runs there. Whatever says otherwise begins the time again.
 */
record QuarantineEvidence(StepBuilder builder, UserRules rules) {
    /** Without the setting a quarantine lasts until a reset: after a restart without it. */
    static void forget(StepBuilder builder) {
        for (GpuState unit : builder.gpus().values()) {
            unit.owner()
                    .asQuarantined()
                    .filter(known -> known.vacancy().isPresent())
                    .ifPresent(known -> builder.extend(unit.gpuId(), new Owner.Quarantined(known.reason())));
        }
    }

    /** What a report says about units that it names: a tenant is there, or none is. */
    void take(ActuationReport report) {
        boolean isThere = report.outcome() == Outcome.BOUND || report.outcome() == Outcome.HOLDS;
        for (GpuId id : isThere ? report.gpus() : List.<GpuId>of()) {
            builder.gpus()
                    .get(id)
                    .filter(unit -> unit.owner().asVacating().isPresent())
                    .ifPresent(unit -> take(report, unit));
        }
    }

    private void take(ActuationReport report, GpuState unit) {
        if (report.tenant().isPresent()) {
            builder.put(unit.reported(Optional.empty()));
            return;
        }
        Instant at = report.at().isBefore(builder.now()) ? report.at() : builder.now();
        Optional<EmptyReports> known = reports(unit);
        boolean isNews = known.filter(before -> !before.at().isBefore(at)).isEmpty();
        if (isNews && mayTell(report, unit)) {
            builder.put(unit.reported(
                    Optional.of(known.map(before -> before.then(at)).orElseGet(() -> new EmptyReports(at, at)))));
        }
    }

    /** The actuator that bound the unit can tell, or one of its node if that one is not known any more. */
    private boolean mayTell(ActuationReport report, GpuState unit) {
        boolean isOfAnother = unit.boundBy()
                .filter(actuator -> !actuator.equals(report.actuator()))
                .filter(actuator -> builder.entities().actuators().contains(actuator))
                .isPresent();
        Optional<ActuatorDescription> actuator = builder.entities().actuators().get(report.actuator());
        return !isOfAnother
                && actuator.filter(known -> known.abilities().choosesUnits())
                        .filter(known ->
                                known.nodes().isEmpty() || known.nodes().contains(unit.nodeId()))
                        .isPresent();
    }

    /** What was reported since the unit is out of service. */
    private static Optional<EmptyReports> reports(GpuState unit) {
        return unit.history().empty().filter(known -> known.since().isAfter(unit.since()));
    }

    /**
     * A sample of a unit whose quarantine ends by evidence.
     *
     * @param isUnused whether it says that nothing uses the unit
     * @param hasGap whether it says nothing about the time before it
     */
    void sampled(GpuState unit, boolean isUnused, boolean hasGap) {
        Vacancy known = unit.owner().asVacating().orElseThrow();
        Optional<Instant> since = isUnused && builder.isReachable(unit)
                ? Optional.of(known.unusedSince().filter(any -> !hasGap).orElse(builder.now()))
                : Optional.empty();
        extend(unit, since);
    }

    /** Frees a unit whose time has come, if its agent and its actuator are still heard, and its node still has it. */
    void end(GpuState unit) {
        Optional<Instant> since = unit.owner()
                .asVacating()
                .flatMap(Vacancy::unusedSince)
                .filter(any -> UserSamples.isHeard(builder, unit))
                .filter(any -> !rules.isStrict() || !isElsewhere(builder, unit))
                .filter(any -> builder.nodes()
                        .get(unit.nodeId())
                        .map(NodeState::node)
                        .filter(node -> reports(node, unit))
                        .isPresent());
        if (since.flatMap(any -> freeAt(unit, any))
                .filter(time -> !time.isAfter(builder.now()))
                .isPresent()) {
            UserSamples.free(builder, unit);
        } else {
            extend(unit, since);
        }
    }

    /** After an error that a reset has to follow, or one after which the unit is looked at again. */
    void erred(GpuState unit, int xid, boolean isFatal) {
        unit.owner()
                .asQuarantined()
                .filter(known -> known.vacancy().isPresent())
                .ifPresent(known -> {
                    String reason = known.reason();
                    builder.extend(
                            unit.gpuId(),
                            isFatal
                                    ? new Owner.Quarantined("XID %d; before that: %s".formatted(xid, reason))
                                    : new Owner.Quarantined(reason, Vacancy.NONE));
                });
    }

    private void extend(GpuState unit, Optional<Instant> unusedSince) {
        Vacancy next = new Vacancy(unusedSince, unusedSince.flatMap(since -> freeAt(unit, since)));
        Owner.Quarantined known = unit.owner().asQuarantined().orElseThrow();
        if (!known.vacancy().equals(Optional.of(next))) {
            builder.extend(unit.gpuId(), new Owner.Quarantined(known.reason(), next));
        }
    }

    private Optional<Instant> freeAt(GpuState unit, Instant unusedSince) {
        return reports(unit)
                .filter(known -> known.isFresh(builder.now()))
                .map(known -> known.since().isAfter(unusedSince) ? known.since() : unusedSince)
                .map(since -> since.plus(rules.evidenceAfter()));
    }

    /** Whether a node has a unit by its last inventory. */
    static boolean reports(Node node, GpuState unit) {
        for (Gpu gpu : node.gpus()) {
            boolean isThere = unit.isWhole()
                    ? gpu.gpuId().equals(unit.gpuId()) && !gpu.migEnabled()
                    : gpu.instances().stream()
                            .anyMatch(instance -> instance.gpuId().equals(unit.gpuId()));
            if (isThere) {
                return true;
            }
        }
        return false;
    }

    /** Whether another node that is not silent reports a unit too. */
    private static boolean isElsewhere(StepBuilder builder, GpuState unit) {
        for (NodeState node : builder.nodes().values()) {
            boolean isOther = !node.node().nodeId().equals(unit.nodeId());
            if (isOther
                    && reports(node.node(), unit)
                    && UserSamples.isHeard(builder, unit.on(node.node().nodeId()))) {
                return true;
            }
        }
        return false;
    }
}
