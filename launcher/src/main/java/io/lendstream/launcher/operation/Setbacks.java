package io.lendstream.launcher.operation;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The last report of each job and service that a decision did not go as planned, until it runs on a GPU after that. */
final class Setbacks {
    private static final Map<Outcome, String> WORDS = Map.of(
            Outcome.REJECTED, "refused",
            Outcome.FAILED, "not started",
            Outcome.TIMED_OUT, "not started in time",
            Outcome.FORCED, "ended");

    private static final Set<Outcome> RUNS = Set.of(Outcome.BOUND, Outcome.HOLDS);

    private final Map<Tenant, ActuationReport> last = new HashMap<>();

    /** Takes the next report, in the order of the topic. */
    void take(ActuationReport report) {
        if (report.tenant().isEmpty()) {
            return;
        }
        if (WORDS.containsKey(report.outcome()) && !report.reason().isEmpty()) {
            last.put(report.tenant().get(), report);
        } else if (RUNS.contains(report.outcome()) && !report.gpus().isEmpty()) {
            last.remove(report.tenant().get());
        }
    }

    /** The last setback of a job or service. */
    Optional<ActuationReport> of(Tenant tenant) {
        return Optional.ofNullable(last.get(tenant));
    }

    /** The starts that have failed since a time and were not made up for, by job and service. */
    List<String> failedSince(Instant time) {
        return last.entrySet().stream()
                .filter(each -> each.getValue().outcome() == Outcome.FAILED
                        && !each.getValue().at().isBefore(time))
                .map(each -> "%s: %s at %s: %s"
                        .formatted(
                                each.getKey(),
                                inWords(each.getValue()),
                                Times.at(each.getValue().at()),
                                each.getValue().reason()))
                .sorted()
                .toList();
    }

    /** What happened, such as {@code refused by actuator gpu-7}. */
    static String inWords(ActuationReport setback) {
        return "%s by actuator %s".formatted(WORDS.get(setback.outcome()), setback.actuator());
    }
}
