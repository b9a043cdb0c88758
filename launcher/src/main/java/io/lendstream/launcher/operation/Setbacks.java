package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The last reports of each job and service that a decision did not go as planned, until it runs on a GPU after that.
 * The failed start of a replica is made up for only on its own GPUs: other replicas say nothing about it.
 */
final class Setbacks {
    private static final Map<Outcome, String> WORDS = Map.of(
            Outcome.REJECTED, "refused",
            Outcome.FAILED, "not started",
            Outcome.TIMED_OUT, "not started in time",
            Outcome.FORCED, "ended");

    private static final Set<Outcome> RUNS = Set.of(Outcome.BOUND, Outcome.HOLDS);

    /** The newest is the last one. */
    private final Map<Tenant, List<Setback>> last = new HashMap<>();

    /** @param othersRun whether another replica was reported as running since */
    private record Setback(ActuationReport report, boolean othersRun) {
        /** Whether a later report of its tenant, good or bad, takes its place. */
        boolean isReplacedBy(ActuationReport later) {
            boolean isOfReplica = report.tenant().flatMap(Tenant::serviceId).isPresent()
                    && report.outcome() == Outcome.FAILED
                    && !report.gpus().isEmpty();
            return !isOfReplica || !Collections.disjoint(report.gpus(), later.gpus());
        }
    }

    /** Takes the next report, in the order of the topic. */
    void take(ActuationReport report) {
        if (report.tenant().isEmpty()) {
            return;
        }
        Tenant tenant = report.tenant().get();
        if (WORDS.containsKey(report.outcome()) && !report.reason().isEmpty()) {
            List<Setback> known = last.computeIfAbsent(tenant, any -> new ArrayList<>());
            known.removeIf(each -> each.isReplacedBy(report));
            known.add(new Setback(report, false));
        } else if (RUNS.contains(report.outcome()) && !report.gpus().isEmpty()) {
            last.computeIfPresent(tenant, (any, known) -> {
                known.removeIf(each -> each.isReplacedBy(report));
                known.replaceAll(each -> new Setback(each.report(), true));
                return known;
            });
        }
    }

    /** The last setback of a job or service. */
    Optional<ActuationReport> of(Tenant tenant) {
        List<Setback> known = last.getOrDefault(tenant, List.of());
        return known.isEmpty()
                ? Optional.empty()
                : Optional.of(known.get(known.size() - 1).report());
    }

    /** The starts that have failed since a time and were not made up for, by job and service. */
    List<String> failedSince(Instant time) {
        List<String> lines = new ArrayList<>();
        last.forEach((tenant, known) -> {
            List<Setback> failed = known.stream()
                    .filter(each -> each.report().outcome() == Outcome.FAILED
                            && !each.report().at().isBefore(time))
                    .toList();
            if (!failed.isEmpty()) {
                lines.add(failed(tenant, failed));
            }
        });
        Collections.sort(lines);
        return lines;
    }

    private static String failed(Tenant tenant, List<Setback> failed) {
        Setback newest = failed.get(failed.size() - 1);
        ActuationReport report = newest.report();
        return "%s: %s at %s: %s%s%s"
                .formatted(
                        tenant,
                        inWords(report),
                        Times.at(report.at()),
                        report.reason(),
                        failed.size() > 1
                                ? "; on other GPUs %s failed".formatted(Reason.counted(failed.size() - 1, "more start"))
                                : "",
                        newest.othersRun() ? "; other replicas of it run" : "");
    }

    /** What happened, such as {@code refused by actuator gpu-7}. */
    static String inWords(ActuationReport setback) {
        return "%s by actuator %s".formatted(WORDS.get(setback.outcome()), setback.actuator());
    }
}
