package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The outcome of a decision.
 *
 * @param reports the reports of actuators on it, in the order of their times
 * @param until up to when it is known
 */
public record DecisionOutcome(Decision decision, List<ActuationReport> reports, Instant until) {
    private static final Set<Outcome> ENDS =
            EnumSet.of(Outcome.APPLIED, Outcome.REJECTED, Outcome.FAILED, Outcome.TIMED_OUT);

    public DecisionOutcome {
        reports = List.copyOf(reports);
    }

    /**
     * The outcome of a decision, from the reports.
     *
     * @param heard reports on any decision, some of them twice perhaps
     */
    public static DecisionOutcome of(Decision decision, Collection<ActuationReport> heard, Instant until) {
        List<ActuationReport> reports = heard.stream()
                .filter(report -> report.decision().equals(decision.id()) && report.outcome() != Outcome.HOLDS)
                .distinct()
                .sorted(Comparator.comparing(ActuationReport::at))
                .toList();
        return new DecisionOutcome(decision, reports, until);
    }

    /** From the decision to the report that ended it; empty while none has. */
    public Optional<Duration> took() {
        return end().map(report -> Duration.between(decision.at(), report.at()));
    }

    /** The same for people. */
    public String inWords() {
        if (end().isPresent()) {
            return ended(end().get());
        }
        if (decision.action().isHold()) {
            return "nothing was to be done";
        }
        if (!reports.isEmpty()) {
            Outcome last = reports.get(reports.size() - 1).outcome();
            return "in progress: the last report is %s".formatted(word(last));
        }
        boolean overdue = decision.deadline().isBefore(until);
        return "no actuator has reported on it; it %s due at %s"
                .formatted(overdue ? "was" : "is", Wording.time(decision.deadline()));
    }

    private String ended(ActuationReport end) {
        String seconds = seconds(Duration.between(decision.at(), end.at()));
        if (end.outcome() == Outcome.APPLIED) {
            Duration late = Duration.between(decision.deadline(), end.at());
            String allowed = seconds(Duration.between(decision.at(), decision.deadline()));
            return late.isNegative() || late.isZero()
                    ? "in force after %s (limit %s)".formatted(seconds, allowed)
                    : "in force after %s, %s late (limit %s)".formatted(seconds, seconds(late), allowed);
        }
        return "%s by %s after %s%s"
                .formatted(
                        word(end.outcome()),
                        end.actuator(),
                        seconds,
                        end.reason().isEmpty() ? "" : ": " + end.reason());
    }

    /** The last report that ends a decision: a refusal by another actuator does not. */
    private Optional<ActuationReport> end() {
        return reports.stream()
                .filter(report -> ENDS.contains(report.outcome()))
                .max(Comparator.<ActuationReport>comparingInt(report -> report.outcome() == Outcome.REJECTED ? 0 : 1)
                        .thenComparing(ActuationReport::at));
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }

    private static String seconds(Duration time) {
        return "%.1f s".formatted(time.toMillis() / 1000.0);
    }
}
