package io.lendstream.actuator;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What is replayed of an actuator without saved state. Decisions and reports are deleted at different times, so for
 * each domain there is a first decision that is known with its answer. What was before follows from reports alone: the
 * last one about a GPU says which tenant it had.
 */
final class EarlierTenants {
    private final Map<DomainId, Decision> firsts = new HashMap<>();
    private final Map<DomainId, Instant> since = new HashMap<>();
    private final Map<GpuId, ActuationReport> holders = new LinkedHashMap<>();
    private final Set<GpuId> known = new HashSet<>();

    /** Adds a decision that is known with its answer, in order. */
    void add(Decision decision, Instant answered) {
        firsts.putIfAbsent(decision.id().domain(), decision);
        since.putIfAbsent(decision.id().domain(), answered);
    }

    /**
     * Replaces reports from before the first decisions by stocks.
     *
     * @param reports reports of driver events, and stocks by {@link ToldTenants}, by time
     * @return stocks and later reports, by time
     */
    List<ActuationReport> of(List<ActuationReport> reports) {
        var replayed = new ArrayList<ActuationReport>();
        for (ActuationReport report : reports) {
            Instant start = since.getOrDefault(report.domain(), Instant.MAX);
            if (report.at().isBefore(start)) {
                takeEarlier(report);
            } else if (report.outcome() == Outcome.HOLDS) {
                firstStock(report).ifPresent(replayed::add);
            } else {
                known.addAll(report.gpus());
                replayed.add(report);
            }
        }
        var gpus = new LinkedHashMap<ActuationReport, List<GpuId>>();
        holders.forEach((gpu, stock) ->
                gpus.computeIfAbsent(stock, any -> new ArrayList<>()).add(gpu));
        gpus.forEach((stock, held) -> replayed.add(Parts.part(stock, held)));
        replayed.sort(Comparator.comparing(ActuationReport::at));
        return replayed;
    }

    private void takeEarlier(ActuationReport report) {
        switch (report.outcome()) {
            case HOLDS -> {
                known.addAll(report.gpus());
                report.gpus().forEach(holders::remove);
                if (report.tenant().isPresent()) {
                    report.gpus().forEach(gpu -> holders.put(gpu, report));
                }
            }
            case RELEASED, FORCED, FAILED -> {
                known.addAll(report.gpus());
                report.gpus().forEach(holders::remove);
            }
            default -> {
                // A stock tells what was bound.
            }
        }
    }

    /** The part of a stock about GPUs of earlier decisions: no report was about them before, or it names one. */
    private Optional<ActuationReport> firstStock(ActuationReport stock) {
        boolean isOfEarlier = Optional.ofNullable(firsts.get(stock.domain()))
                .filter(first -> stock.decision().compareTo(first.id()) < 0)
                .isPresent();
        List<GpuId> first = stock.gpus().stream()
                .filter(gpu -> known.add(gpu) || isOfEarlier)
                .toList();
        return stock.tenant().isEmpty() || first.isEmpty() ? Optional.empty() : Optional.of(Parts.part(stock, first));
    }
}
