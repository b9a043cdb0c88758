package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Findings about actuators: whether they are alive, and whether they answer the decisions. */
final class ActuatorDiagnosis {
    /** A decision without an answer this long after its deadline is overdue. */
    static final Duration SILENCE = Duration.ofSeconds(60);

    /**
     * An actuator answers a decision at once, accepted or refused, whatever its deadline. This leaves time for slow
     * brokers, and is short enough for an actuator that was killed.
     */
    static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);

    /** An actuator that is silent for longer counts as removed. */
    static final Duration REMOVED_AFTER = Duration.ofDays(1);

    private static final String START_AGAIN =
            "operator of the actuator's machine: check that 'lendstream actuator' runs and reaches the broker; if not, start it";
    private static final Duration STOCK_EVERY = Duration.ofSeconds(60);
    private static final Duration SHORTEST_STOCK = Duration.ofSeconds(10);
    private static final int STOCKS_MISSED = 3;
    private static final int STOCKS_LATE = 2;

    private ActuatorDiagnosis() {}

    /** What the topics show about actuators. */
    enum Liveness {
        /** One reports at least. */
        ALIVE,
        /** None reports, although reports are due. */
        SILENT,
        /** No report is due yet: the first decisions are new, or there are none. */
        UNKNOWN
    }

    /**
     * What the topics show about actuators. An actuator answers each decision at once, and reports its GPUs regularly
     * after the first one. So without a decision its silence says nothing.
     *
     * @param reported the times of the reports of all GPUs, by actuator
     * @param last the time of the newest report of any kind, by actuator
     * @param isReportDue whether a decision has waited so long that it must have an answer
     */
    static Liveness liveness(
            Map<String, ? extends SortedSet<Instant>> reported,
            Map<String, Instant> last,
            boolean isReportDue,
            Instant now) {
        boolean isAlive = last.entrySet().stream().anyMatch(each -> isAlive(reported.get(each.getKey()), each, now));
        return isAlive ? Liveness.ALIVE : last.isEmpty() && !isReportDue ? Liveness.UNKNOWN : Liveness.SILENT;
    }

    /** Whether a live actuator must have answered a decision by now. */
    static boolean isReportDue(Decision decision, Instant now) {
        return isForActuators(decision) && decision.at().plus(SILENCE).isBefore(now);
    }

    static boolean isForActuators(Decision decision) {
        return !decision.advisory() && !decision.action().isHold();
    }

    /**
     * Whether every known actuator is alive. Each reports its GPUs every {@code actuator.stock-every}, which the topic
     * shows. An actuator that is silent for a day counts as removed; one that never reported is unknown.
     *
     * @param reported the times of these reports, by actuator
     * @param last the time of the newest report of any kind, by actuator
     */
    static Finding alive(
            Map<String, ? extends SortedSet<Instant>> reported,
            Map<String, Instant> last,
            boolean isReportDue,
            Instant now) {
        if (liveness(reported, last, isReportDue, now) == Liveness.UNKNOWN) {
            return Finding.ok("actuator", "none is known yet; actuators report after the first decision");
        }
        List<String> silent = new ArrayList<>();
        List<String> late = new ArrayList<>();
        List<String> unsure = new ArrayList<>();
        int known = 0;
        Duration oldest = Duration.ZERO;
        for (Map.Entry<String, Instant> each : last.entrySet()) {
            Duration silence = Duration.between(each.getValue(), now);
            Optional<Duration> usual = stockEvery(reported.get(each.getKey()));
            Duration limit = limit(usual);
            if (silence.compareTo(REMOVED_AFTER) > 0) {
                continue;
            }
            known++;
            oldest = silence.compareTo(oldest) > 0 ? silence : oldest;
            if (silence.compareTo(limit) > 0) {
                (usual.isPresent() ? silent : unsure).add(silent(each.getKey(), silence, limit));
            } else {
                usual.map(every -> every.multipliedBy(STOCKS_LATE))
                        .filter(most -> silence.compareTo(most) > 0)
                        .ifPresent(most -> late.add(silent(each.getKey(), silence, most)));
            }
        }
        return alive(known, oldest, silent, late, unsure);
    }

    private static String silent(String actuator, Duration silence, Duration limit) {
        return "%s has reported nothing for %s, more than %s"
                .formatted(actuator, Diagnosis.age(silence), Units.text(limit));
    }

    /** @param oldest the age of the last report of the actuator that has been silent for longest */
    private static Finding alive(
            int known, Duration oldest, List<String> silent, List<String> late, List<String> unsure) {
        if (known == 0) {
            return Finding.warn(
                    "actuator",
                    "none has reported in the last day",
                    "start 'lendstream actuator'; after its start the first report takes up to actuator.stock-every");
        }
        if (!silent.isEmpty()) {
            return Finding.fail(
                    "actuator",
                    Diagnosis.some(silent, Function.identity()),
                    START_AGAIN + "; after a day a removed actuator is no longer listed");
        }
        if (!late.isEmpty()) {
            return Finding.warn(
                    "actuator",
                    Diagnosis.some(late, Function.identity()),
                    START_AGAIN + ". Wait if it was just restarted");
        }
        return unsure.isEmpty()
                ? Finding.ok(
                        "actuator",
                        "all %d report; %s %s ago"
                                .formatted(
                                        known,
                                        known == 1 ? "last report" : "oldest last report",
                                        Diagnosis.age(oldest)))
                : Finding.warn(
                        "actuator",
                        Diagnosis.some(unsure, Function.identity()),
                        "check that it runs; if its actuator.stock-every is longer than 60s, wait for its third report");
    }

    /** Whether it reports, or may report again: its interval is not known yet. */
    private static boolean isAlive(@Nullable SortedSet<Instant> stocks, Map.Entry<String, Instant> last, Instant now) {
        Duration silence = Duration.between(last.getValue(), now);
        Optional<Duration> usual = stockEvery(stocks);
        return silence.compareTo(usual.isPresent() ? limit(usual) : REMOVED_AFTER) <= 0;
    }

    private static Duration limit(Optional<Duration> stockEvery) {
        return stockEvery.orElse(STOCK_EVERY).multipliedBy(STOCKS_MISSED);
    }

    /** The usual time between two reports of all GPUs; empty if there are too few. */
    private static Optional<Duration> stockEvery(@Nullable SortedSet<Instant> stocks) {
        if (stocks == null || stocks.size() < 3) {
            return Optional.empty();
        }
        List<Instant> times = List.copyOf(stocks);
        List<Duration> gaps = IntStream.range(1, times.size())
                .mapToObj(at -> Duration.between(times.get(at - 1), times.get(at)))
                .sorted()
                .toList();
        Duration usual = gaps.get(gaps.size() / 2);
        return Optional.of(usual.compareTo(SHORTEST_STOCK) < 0 ? SHORTEST_STOCK : usual);
    }

    /**
     * Whether the decisions of the last hour have answers. If all actuators are silent, this is never fine.
     *
     * @param written when a decision was written; a scheduler that lags writes it later than its event
     * @param now the present time by the clock of the decisions
     */
    static Finding actuators(
            Collection<Decision> decisions,
            Set<DecisionId> answered,
            Liveness liveness,
            Function<Decision, Instant> written,
            Instant now) {
        List<Decision> asked =
                decisions.stream().filter(ActuatorDiagnosis::isForActuators).toList();
        List<Decision> open = asked.stream()
                .filter(decision -> !answered.contains(decision.id()))
                .toList();
        List<Decision> overdue = open.stream()
                .filter(decision -> decision.deadline().plus(SILENCE).isBefore(now))
                .toList();
        String binding = Reason.counted(asked.size(), "binding decision");
        if (!overdue.isEmpty()) {
            return Finding.fail(
                    "actuators",
                    "%d of %s of the last hour %s overdue without an answer: %s"
                            .formatted(overdue.size(), binding, overdue.size() == 1 ? "is" : "are", ids(overdue)),
                    START_AGAIN);
        }
        if (liveness == Liveness.SILENT) {
            return asked.isEmpty()
                    ? Finding.silent("actuators", "no actuator is alive; no decision waits for one", START_AGAIN)
                    : Finding.fail(
                            "actuators",
                            "no actuator is alive to carry out %s of the last hour".formatted(binding),
                            START_AGAIN);
        }
        return late(asked, open, written, now)
                .orElseGet(() -> Finding.ok(
                        "actuators",
                        asked.isEmpty()
                                ? "no decisions to carry out in the last hour"
                                : "%s in the last hour, none unanswered for more than %s"
                                        .formatted(binding, Units.text(ANSWER_WITHIN))));
    }

    /** A warning about decisions that a live actuator would have answered, before they are overdue. */
    private static Optional<Finding> late(
            List<Decision> asked, List<Decision> open, Function<Decision, Instant> written, Instant now) {
        List<Decision> late = open.stream()
                .filter(decision -> written.apply(decision).plus(ANSWER_WITHIN).isBefore(now))
                .toList();
        Optional<Instant> oldest = late.stream().map(written).min(Instant::compareTo);
        return oldest.map(at -> Finding.warn(
                "actuators",
                "%d of %s of the last hour %s for an answer, for up to %s, more than %s: %s"
                        .formatted(
                                late.size(),
                                Reason.counted(asked.size(), "binding decision"),
                                late.size() == 1 ? "waits" : "wait",
                                Diagnosis.age(Duration.between(at, now)),
                                Units.text(ANSWER_WITHIN),
                                ids(late)),
                "%s. 'lendstream doctor' fails %d s after the decision's deadline"
                        .formatted(START_AGAIN, SILENCE.toSeconds())));
    }

    private static String ids(List<Decision> decisions) {
        return Diagnosis.some(decisions, decision -> decision.id().toString());
    }
}
