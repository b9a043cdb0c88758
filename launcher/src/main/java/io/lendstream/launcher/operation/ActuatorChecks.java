package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ServiceName;
import io.lendstream.launcher.operation.ActuatorDiagnosis.Liveness;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;

/** Reads decisions and reports for the findings about actuators. */
final class ActuatorChecks {
    /** The number of reports from which the report interval of an actuator is taken. */
    private static final int MOST_STOCKS = 20;

    private static final Duration HOUR = Duration.ofHours(1);

    private final TopicScan reading;
    private final boolean virtual;
    private final Instant wallClock;

    ActuatorChecks(TopicScan reading, boolean virtual, Instant wallClock) {
        this.reading = reading;
        this.virtual = virtual;
        this.wallClock = wallClock;
    }

    /** The reports of all actuators: those of all GPUs and the newest of any kind, by actuator. */
    private record Reported(
            Map<String, TreeSet<Instant>> stocks, Map<String, Instant> last, Set<DecisionId> answered) {}

    private Reported reported() {
        var all = new Reported(new HashMap<>(), new TreeMap<>(), new HashSet<>());
        reading.values(TopicCatalogue.ACTUATION_REPORTS, report -> {
            all.answered.add(report.decision());
            all.last.merge(report.actuator(), report.at(), (one, other) -> one.isAfter(other) ? one : other);
            if (report.outcome() == Outcome.HOLDS) {
                TreeSet<Instant> times = all.stocks.computeIfAbsent(report.actuator(), added -> new TreeSet<>());
                times.add(report.at());
                if (times.size() > MOST_STOCKS) {
                    times.pollFirst();
                }
            }
        });
        return all;
    }

    /** Whether decisions have answers. */
    Finding decisions() {
        List<Decision> decisions = new ArrayList<>();
        reading.values(TopicCatalogue.DECISIONS, decisions::add);
        Instant now = virtual
                ? decisions.stream().map(Decision::at).max(Instant::compareTo).orElse(wallClock)
                : wallClock;
        Reported reported = reported();
        boolean isReportDue = decisions.stream().anyMatch(decision -> ActuatorDiagnosis.isReportDue(decision, now));
        Liveness liveness = virtual
                ? livenessInVirtualTime()
                : ActuatorDiagnosis.liveness(reported.stocks, reported.last, isReportDue, now);
        decisions.removeIf(decision -> decision.at().isBefore(now.minus(HOUR)));
        return ActuatorDiagnosis.actuators(decisions, reported.answered, liveness, now);
    }

    /** In virtual time an actuator publishes its progress, and no reports of all GPUs. */
    private Liveness livenessInVirtualTime() {
        var isAlive = new AtomicBoolean();
        reading.values(
                TopicCatalogue.PROGRESS,
                progress -> isAlive.set(isAlive.get() || progress.isOf(ServiceName.ACTUATOR)),
                isAlive::get);
        return isAlive.get() ? Liveness.ALIVE : Liveness.SILENT;
    }

    /** Whether each actuator is alive. */
    Finding alive() {
        Reported reported = reported();
        boolean isReportDue = reported.last.isEmpty() && isReportDue();
        return ActuatorDiagnosis.alive(reported.stocks, reported.last, isReportDue, wallClock);
    }

    private boolean isReportDue() {
        var isDue = new AtomicBoolean();
        reading.values(
                TopicCatalogue.DECISIONS,
                decision -> isDue.set(isDue.get() || ActuatorDiagnosis.isReportDue(decision, wallClock)),
                isDue::get);
        return isDue.get();
    }
}
