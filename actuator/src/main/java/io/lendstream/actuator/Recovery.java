package io.lendstream.actuator;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
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
import java.util.TreeMap;

/**
 * Catches up after a restart with the decisions since the last saved state. Some had been answered already. Those are
 * repeated at the time of their first answer, so that all later events are due at the same times, and nothing is
 * reported twice.
 */
final class Recovery {
    /** How long a loan without a known lease counts as running after the last report. */
    private static final Duration UNTIL_RENEWED = Duration.ofHours(1);

    private final Map<DecisionId, Instant> answeredAt = new HashMap<>();
    private final Map<DomainId, DecisionId> lastAnswered = new HashMap<>();
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
                lastAnswered.merge(report.decision().domain(), report.decision(), Recovery::later);
            }
            said.add(Said.of(report));
            if (!isAnswer(report)) {
                happened.add(report);
            }
            lastSaid = report.at().isAfter(lastSaid) ? report.at() : lastSaid;
        }
    }

    /**
     * Whether a decision was taken before the restart: it or a later one was answered. Of an early one the topic may
     * not have the answer any more. HOLD decisions are never answered.
     */
    boolean wasTaken(Decision decision) {
        return decision.action().isHold() || answeredAt.containsKey(decision.id()) || isPassed(decision);
    }

    private boolean isPassed(Decision decision) {
        DecisionId last = lastAnswered.get(decision.id().domain());
        return last != null && decision.id().compareTo(last) < 0;
    }

    /**
     * Repeats the answered decisions. Those whose answer is gone are left out: without the reports about them nothing
     * tells what came of them, except the reports of stocks.
     *
     * @param decisions the decisions for which {@link #wasTaken} is true, in order
     * @return reports that are due and were never written
     */
    List<ActuationReport> replay(Actuation actuation, List<Decision> decisions) {
        List<Decision> known = decisions.stream()
                .filter(decision ->
                        decision.action().isHold() || answeredAt.containsKey(decision.id()) || !isPassed(decision))
                .toList();
        var owed = new ArrayList<ActuationReport>();
        var open = new ArrayDeque<>(replayed(known));
        Map<GpuId, Instant> leases = leases(open, known);
        for (Decision decision : known) {
            Instant answered = answeredAt.getOrDefault(decision.id(), decision.at());
            while (!open.isEmpty() && open.getFirst().at().isBefore(answered)) {
                owed.addAll(repeated(actuation, open.removeFirst(), leases));
            }
            owed.addAll(actuation.take(decision, answered));
        }
        while (!open.isEmpty()) {
            owed.addAll(repeated(actuation, open.removeFirst(), leases));
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

    private List<ActuationReport> replayed(List<Decision> known) {
        if (happened.stream().noneMatch(report -> report.outcome() == Outcome.HOLDS)) {
            return happened; // a saved state has the tenants from before
        }
        var earlier = new EarlierTenants();
        for (Decision decision : known) {
            Instant answered = answeredAt.get(decision.id());
            if (answered != null) {
                earlier.add(decision, answered);
            }
        }
        return earlier.of(happened);
    }

    /** Replays the driver's events from before the restart; simulated tenants need none. */
    private List<ActuationReport> repeated(Actuation actuation, ActuationReport report, Map<GpuId, Instant> leases) {
        if (report.outcome() == Outcome.HOLDS) {
            return recalled(actuation, report, leases);
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

    private List<ActuationReport> recalled(Actuation actuation, ActuationReport stock, Map<GpuId, Instant> leases) {
        var byEnd = new TreeMap<Instant, List<GpuId>>();
        Instant last = lastSaid.isAfter(stock.at()) ? lastSaid : stock.at();
        for (GpuId gpu : stock.gpus()) {
            Instant until = leases.getOrDefault(gpu, last.plus(UNTIL_RENEWED));
            byEnd.computeIfAbsent(until, any -> new ArrayList<>()).add(gpu);
        }
        var reports = new ArrayList<ActuationReport>();
        byEnd.forEach((until, gpus) -> reports.addAll(actuation.recall(Parts.part(stock, gpus), until)));
        return reports;
    }

    /** The ends of the first known renewals after stocks: a lease gets longer only. */
    private static Map<GpuId, Instant> leases(Iterable<ActuationReport> replayed, List<Decision> known) {
        var from = new HashMap<GpuId, Instant>();
        for (ActuationReport report : replayed) {
            if (report.outcome() == Outcome.HOLDS) {
                report.gpus().forEach(gpu -> from.putIfAbsent(gpu, report.at()));
            }
        }
        var leases = new HashMap<GpuId, Instant>();
        for (Decision decision : known) {
            if (decision.action() instanceof Action.Renew renewal && !from.isEmpty()) {
                renewal.gpus().stream()
                        .filter(gpu -> !decision.at().isBefore(from.getOrDefault(gpu, Instant.MAX)))
                        .forEach(gpu -> leases.putIfAbsent(gpu, renewal.until()));
            }
        }
        return leases;
    }

    private static DecisionId later(DecisionId one, DecisionId other) {
        return one.compareTo(other) < 0 ? other : one;
    }

    private static boolean isAnswer(ActuationReport report) {
        return report.outcome() == Outcome.ACCEPTED || report.outcome() == Outcome.REJECTED;
    }
}
