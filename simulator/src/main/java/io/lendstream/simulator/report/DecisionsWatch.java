package io.lendstream.simulator.report;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.simulator.report.Bins.Bin;
import io.lendstream.simulator.report.ReportedRun.DecisionFacts;
import io.lendstream.simulator.report.ReportedRun.KindCount;
import io.lendstream.simulator.report.ReportedRun.Turnover;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts the decisions of a run, and the GPUs that they lent and reclaimed. */
final class DecisionsWatch {
    private static final int DECISIONS_AT_EACH_END = 100;
    private static final int MOST_REASONS = 50;

    private final Map<String, Kind> kinds = new TreeMap<>();
    private final List<Decision> firstDecisions = new ArrayList<>();
    private final Deque<Decision> lastDecisions = new ArrayDeque<>();
    private final Bins lentGpus = new Bins();
    private final Bins reclaimedGpus = new Bins();
    private long decisions;
    private long advisory;

    private static final class Kind {
        private final Map<String, Long> reasons = new TreeMap<>();
        private long decisions;
        private long gpus;
    }

    void take(Decision decision) {
        decisions++;
        Action action = decision.action();
        Kind kind = kinds.computeIfAbsent(decision.countedAs(), each -> new Kind());
        kind.decisions++;
        kind.gpus += action.gpus().size();
        String code = decision.reason().code();
        if (kind.reasons.size() < MOST_REASONS || kind.reasons.containsKey(code)) {
            kind.reasons.merge(code, 1L, Long::sum);
        }
        remember(decision);
        if (decision.advisory()) {
            advisory++;
            return;
        }
        action.asLend()
                .ifPresent(lend -> lentGpus.tally(decision.at(), lend.gpus().size()));
        action.asReclaim()
                .filter(any -> decision.isReclaim())
                .ifPresent(reclaim ->
                        reclaimedGpus.tally(decision.at(), reclaim.gpus().size()));
    }

    private void remember(Decision decision) {
        if (firstDecisions.size() < DECISIONS_AT_EACH_END) {
            firstDecisions.add(decision);
            return;
        }
        lastDecisions.addLast(decision);
        if (lastDecisions.size() > DECISIONS_AT_EACH_END) {
            lastDecisions.removeFirst();
        }
    }

    long widthMillis() {
        long width = lentGpus.isEmpty() ? 1000 : lentGpus.widthMillis();
        return Math.max(width, reclaimedGpus.isEmpty() ? 1000 : reclaimedGpus.widthMillis());
    }

    /** How many GPUs were lent and reclaimed, where any were. */
    List<Turnover> turnover(long widthMillis) {
        Map<Instant, Turnover> turnover = new TreeMap<>();
        for (Bin bin : lentGpus.bins(widthMillis)) {
            turnover.put(bin.at(), new Turnover(bin.at(), (int) bin.amount(), 0));
        }
        for (Bin bin : reclaimedGpus.bins(widthMillis)) {
            turnover.merge(
                    bin.at(),
                    new Turnover(bin.at(), 0, (int) bin.amount()),
                    (lent, reclaimed) -> new Turnover(bin.at(), lent.lentGpus(), reclaimed.reclaimedGpus()));
        }
        turnover.values().removeIf(each -> each.lentGpus() == 0 && each.reclaimedGpus() == 0);
        return List.copyOf(turnover.values());
    }

    DecisionFacts facts() {
        return new DecisionFacts(
                decisions,
                advisory,
                kinds.entrySet().stream()
                        .map(kind -> new KindCount(
                                kind.getKey(),
                                kind.getValue().decisions,
                                kind.getValue().gpus,
                                kind.getValue().reasons))
                        .sorted(Comparator.comparingLong(KindCount::decisions)
                                .reversed()
                                .thenComparing(KindCount::kind))
                        .toList(),
                firstDecisions,
                List.copyOf(lastDecisions));
    }
}
