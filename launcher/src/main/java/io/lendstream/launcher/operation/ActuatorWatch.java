package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.launcher.operation.ActuatorDiagnosis.Liveness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Judges actuators by their decisions and reports, taken in any order: the one rule for {@code doctor} and {@code top}.
 */
final class ActuatorWatch {
    /** Decisions of this time are judged. */
    static final Duration LATELY = Duration.ofHours(1);
    /** Decisions of this time must be taken; it is longer, because the clocks of services may differ. */
    static final Duration READ_BACK = LATELY.plusMinutes(10);
    /** Reports of this time must be taken, so that an actuator is listed until it counts as removed. */
    static final Duration REPORTS_BACK = ActuatorDiagnosis.REMOVED_AFTER.plusMinutes(10);

    /** The number of reports from which the report interval of an actuator is taken. */
    private static final int MOST_STOCKS = 20;

    private final List<Decision> decisions = new ArrayList<>();
    /** When each decision was written: later than its event if the scheduler lags. */
    private final Map<DecisionId, Instant> written = new HashMap<>();
    /** The time of the last answer, by decision. */
    private final Map<DecisionId, Instant> answered = new HashMap<>();
    /** The times of the reports of all GPUs, by actuator. */
    private final Map<String, TreeSet<Instant>> stocks = new HashMap<>();
    /** The time of the newest report of any kind, by actuator. */
    private final Map<String, Instant> last = new TreeMap<>();

    /** The first decision that an actuator must answer. */
    private Optional<Decision> first = Optional.empty();

    private Optional<Instant> newest = Optional.empty();
    private boolean hasProgress;

    /** @param at when it was written, by the clock of the broker */
    void takeDecision(Decision decision, Instant at) {
        decisions.add(decision);
        written.put(decision.id(), later(decision.at(), at));
        newest = Optional.of(newest.map(known -> later(known, decision.at())).orElse(decision.at()));
        if (ActuatorDiagnosis.isForActuators(decision)
                && first.filter(known -> !known.at().isAfter(decision.at())).isEmpty()) {
            first = Optional.of(decision);
        }
    }

    void takeReport(ActuationReport report) {
        answered.merge(report.decision(), report.at(), ActuatorWatch::later);
        last.merge(report.actuator(), report.at(), ActuatorWatch::later);
        if (report.outcome() == Outcome.HOLDS) {
            TreeSet<Instant> times = stocks.computeIfAbsent(report.actuator(), added -> new TreeSet<>());
            times.add(report.at());
            if (times.size() > MOST_STOCKS) {
                times.pollFirst();
            }
        }
    }

    /** In virtual time an actuator publishes its progress, and no reports of all GPUs. */
    void takeProgress(Progress progress) {
        hasProgress |= progress.isOf(ServiceName.ACTUATOR);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** Whether decisions have answers. In virtual time the newest decision gives the present time. */
    Finding decisions(Instant wallClock, boolean virtual) {
        Instant now = virtual ? newest.orElse(wallClock) : wallClock;
        decisions.removeIf(decision -> decision.at().isBefore(now.minus(LATELY)));
        answered.values().removeIf(at -> at.isBefore(now.minus(READ_BACK)));
        written.values().removeIf(at -> at.isBefore(now.minus(READ_BACK)));
        return ActuatorDiagnosis.actuators(
                decisions,
                answered.keySet(),
                liveness(now, virtual),
                virtual ? Decision::at : decision -> written.getOrDefault(decision.id(), decision.at()),
                now);
    }

    private Liveness liveness(Instant now, boolean virtual) {
        if (virtual) {
            return hasProgress ? Liveness.ALIVE : Liveness.SILENT;
        }
        return ActuatorDiagnosis.liveness(stocks, last, isReportDue(now), now);
    }

    /** Whether each actuator is alive, by the wall clock. */
    Finding alive(Instant wallClock) {
        return ActuatorDiagnosis.alive(stocks, last, isReportDue(wallClock), wallClock);
    }

    private boolean isReportDue(Instant now) {
        return first.filter(decision -> ActuatorDiagnosis.isReportDue(decision, now))
                .isPresent();
    }

    /** The findings that need an operator, by the wall clock. */
    List<Finding> problems(Instant wallClock) {
        List<Finding> problems = new ArrayList<>();
        problems.add(decisions(wallClock, false));
        if (!last.isEmpty()) { // else the decisions show that no actuator is alive
            problems.add(alive(wallClock));
        }
        problems.removeIf(Finding::isOk);
        return problems;
    }
}
