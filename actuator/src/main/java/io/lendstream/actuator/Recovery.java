package io.lendstream.actuator;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Catches up after a restart with the decisions since the last saved state. Some had been answered already. Those are
 * repeated at the time of their first answer, so that all later events are due at the same times, and nothing is
 * reported twice.
 */
final class Recovery {
    /** Lease of a loan whose decision is not known any more; the known renewals of a running loan make it longer. */
    private static final Duration UNTIL_RENEWED = Duration.ofHours(1);

    private final Map<DecisionId, Instant> answeredAt = new HashMap<>();
    private final Set<Said> said = new HashSet<>();
    private final List<ActuationReport> happened = new ArrayList<>();
    private Instant lastSaid = Instant.EPOCH;

    private record Said(DecisionId decision, Outcome outcome, List<GpuId> gpus) {
        static Said of(ActuationReport report) {
            return new Said(report.decision(), report.outcome(), report.gpus());
        }
    }

    /** A recovery from the reports that the actuator wrote since its last saved state, in order. */
    Recovery(List<ActuationReport> reports) {
        for (ActuationReport report : reports) {
            if (report.outcome() == Outcome.HOLDS) {
                happened.add(report);
                continue;
            }
            if (isAnswer(report)) {
                answeredAt.putIfAbsent(report.decision(), report.at());
            }
            said.add(Said.of(report));
            if (!isAnswer(report)) {
                happened.add(report);
            }
            lastSaid = report.at().isAfter(lastSaid) ? report.at() : lastSaid;
        }
    }

    /** Whether a decision was answered before the restart; HOLD decisions are never answered. */
    boolean wasTaken(Decision decision) {
        return decision.action().isHold() || answeredAt.containsKey(decision.id());
    }

    /**
     * Repeats the answered decisions.
     *
     * @param decisions the decisions for which {@link #wasTaken} is true, in order
     * @return reports that are due and were never written
     */
    List<ActuationReport> replay(Actuation actuation, List<Decision> decisions) {
        var owed = new ArrayList<ActuationReport>();
        var open = new ArrayDeque<>(happened);
        for (Decision decision : decisions) {
            Instant answered = answeredAt.getOrDefault(decision.id(), decision.at());
            while (!open.isEmpty() && open.getFirst().at().isBefore(answered)) {
                owed.addAll(repeated(actuation, open.removeFirst()));
            }
            owed.addAll(actuation.take(decision, answered));
        }
        while (!open.isEmpty()) {
            owed.addAll(repeated(actuation, open.removeFirst()));
        }
        if (lastSaid.isAfter(actuation.clock())) {
            owed.addAll(actuation.advance(lastSaid));
        }
        List<ActuationReport> parts = new ArrayList<>(
                owed.stream().flatMap(report -> Parts.of(report).stream()).toList());
        parts.removeIf(report ->
                said.contains(Said.of(report)) || (isAnswer(report) && answeredAt.containsKey(report.decision())));
        return parts;
    }

    /** Replays the driver's events from before the restart; simulated tenants need none. */
    private static List<ActuationReport> repeated(Actuation actuation, ActuationReport report) {
        if (report.outcome() == Outcome.HOLDS) {
            return actuation.recall(report, report.at().plus(UNTIL_RENEWED));
        }
        Optional<DriverEvent> driverEvent = report.tenant().flatMap(tenant -> switch (report.outcome()) {
            case RELEASED, FORCED, FAILED ->
                Optional.of(new DriverEvent.Stopped(tenant, report.gpus(), report.outcome() == Outcome.FORCED, ""));
            case BOUND -> Optional.of(new DriverEvent.Started(tenant, report.gpus()));
            case APPLIED -> Optional.of(new DriverEvent.InForce(tenant, report.decision()));
            default -> Optional.empty();
        });
        return driverEvent
                .filter(any ->
                        report.tenant().filter(actuation::isHeardFromOutside).isPresent())
                .map(told -> actuation.done(told, report.at()))
                .orElse(List.of());
    }

    private static boolean isAnswer(ActuationReport report) {
        return report.outcome() == Outcome.ACCEPTED || report.outcome() == Outcome.REJECTED;
    }
}
