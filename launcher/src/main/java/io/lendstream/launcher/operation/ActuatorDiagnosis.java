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
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Findings about actuators: whether they are alive, and whether they answer the decisions. */
final class ActuatorDiagnosis {
    /** A decision without an answer this long after its deadline is overdue. */
    static final Duration SILENCE = Duration.ofSeconds(60);

    private static final Duration STOCK_EVERY = Duration.ofSeconds(60);
    private static final Duration SHORTEST_STOCK = Duration.ofSeconds(10);
    private static final int STOCKS_MISSED = 3;
    private static final Duration REMOVED_AFTER = Duration.ofDays(1);

    private ActuatorDiagnosis() {}

    /**
     * Whether every known actuator is alive. Each reports its GPUs every {@code actuator.stock-every}, which the topic
     * shows. An actuator that is silent for a day counts as removed; one that never reported is unknown.
     *
     * @param reported the times of these reports, by actuator
     * @param last the time of the newest report of any kind, by actuator
     */
    static Finding alive(Map<String, ? extends SortedSet<Instant>> reported, Map<String, Instant> last, Instant now) {
        List<String> silent = new ArrayList<>();
        int known = 0;
        for (Map.Entry<String, Instant> each : last.entrySet()) {
            Duration silence = Duration.between(each.getValue(), now);
            Duration limit = limit(reported.get(each.getKey()));
            if (silence.compareTo(REMOVED_AFTER) > 0) {
                continue;
            }
            known++;
            if (silence.compareTo(limit) > 0) {
                silent.add("%s has reported nothing for %s, more than %s"
                        .formatted(each.getKey(), Diagnosis.age(silence), Units.text(limit)));
            }
        }
        if (known == 0) {
            return Finding.warn(
                    "actuator",
                    "none has reported in the last day",
                    "start 'lendstream actuator'; after its start the first report takes up to actuator.stock-every");
        }
        if (silent.isEmpty()) {
            return Finding.ok("actuator", "all %d report".formatted(known));
        }
        return Finding.fail(
                "actuator",
                Diagnosis.some(silent, Function.identity()),
                "check that it runs and reaches the broker; after a day a removed actuator is no longer listed");
    }

    /** The number of actuators that have reported within their limit. */
    static long countAlive(Map<String, ? extends SortedSet<Instant>> reported, Map<String, Instant> last, Instant now) {
        return last.entrySet().stream()
                .filter(each ->
                        Duration.between(each.getValue(), now).compareTo(limit(reported.get(each.getKey()))) <= 0)
                .count();
    }

    private static Duration limit(@Nullable SortedSet<Instant> stocks) {
        return stockEvery(stocks).multipliedBy(STOCKS_MISSED);
    }

    /** The usual time between two reports of all GPUs, or the default if there are too few. */
    private static Duration stockEvery(@Nullable SortedSet<Instant> stocks) {
        if (stocks == null || stocks.size() < 3) {
            return STOCK_EVERY;
        }
        List<Instant> times = List.copyOf(stocks);
        List<Duration> gaps = IntStream.range(1, times.size())
                .mapToObj(at -> Duration.between(times.get(at - 1), times.get(at)))
                .sorted()
                .toList();
        Duration usual = gaps.get(gaps.size() / 2);
        return usual.compareTo(SHORTEST_STOCK) < 0 ? SHORTEST_STOCK : usual;
    }

    /**
     * Whether the decisions of the last hour have answers. Without a live actuator this is never fine.
     *
     * @param alive the number of live actuators
     * @param now the present time by the clock of the decisions
     */
    static Finding actuators(Collection<Decision> decisions, Set<DecisionId> answered, long alive, Instant now) {
        List<Decision> asked = decisions.stream()
                .filter(decision -> !decision.advisory() && !decision.action().isHold())
                .toList();
        List<Decision> unanswered = asked.stream()
                .filter(decision ->
                        decision.deadline().plus(SILENCE).isBefore(now) && !answered.contains(decision.id()))
                .toList();
        if (!unanswered.isEmpty()) {
            return Finding.fail(
                    "actuators",
                    "%d of %d decisions of the last hour are overdue without an answer: %s"
                            .formatted(
                                    unanswered.size(),
                                    asked.size(),
                                    Diagnosis.some(
                                            unanswered,
                                            decision -> decision.id().toString())),
                    "check that 'lendstream actuator' runs for their domains");
        }
        if (alive == 0) {
            String start = "start 'lendstream actuator', or check that it reaches the broker";
            return asked.isEmpty()
                    ? Finding.warn("actuators", "no actuator is alive; no decision waits for one", start)
                    : Finding.fail(
                            "actuators",
                            "no actuator is alive to carry out %s of the last hour"
                                    .formatted(Reason.counted(asked.size(), "decision")),
                            start);
        }
        return Finding.ok(
                "actuators",
                asked.isEmpty()
                        ? "no decisions to carry out in the last hour"
                        : "all %d decisions of the last hour are answered or not due".formatted(asked.size()));
    }
}
