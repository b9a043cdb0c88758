package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.DomainId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The level of trust of each domain, from the starts of schedulers, which carry the level, and from the decisions that
 * answer changes of it.
 */
final class SeenTrust {
    private final SortedMap<DomainId, SchedulerStarted> starts = new TreeMap<>();
    private final SortedMap<DomainId, Decision> changes = new TreeMap<>();

    void take(SchedulerStarted started) {
        starts.merge(started.domain(), started, (known, next) -> next.epoch() >= known.epoch() ? next : known);
    }

    void take(Decision decision) {
        if (decision.reason().is(ReasonCode.TRUST)
                && decision.action().isHold()
                && decision.reason().numbers().containsKey("level")) {
            changes.merge(
                    decision.id().domain(),
                    decision,
                    (known, next) -> next.id().compareTo(known.id()) > 0 ? next : known);
        }
    }

    /** The level of a domain, such as {@code advise}; empty if it has none, or if it is not known. */
    Optional<String> level(DomainId domain) {
        Optional<SchedulerStarted> start = Optional.ofNullable(starts.get(domain));
        Optional<String> changed = Optional.ofNullable(changes.get(domain))
                .filter(change -> start.filter(
                                started -> started.epoch() > change.id().epoch())
                        .isEmpty())
                .map(change -> label(change.reason().numbers().getOrDefault("level", 0.0)));
        return changed.or(() -> start.flatMap(started -> Optional.ofNullable(started.settings()
                .getOrDefault("trust", started.epoch() == 1 ? started.settings().get("first-trust") : null))));
    }

    private static String label(double rank) {
        return Arrays.stream(TrustLevel.values())
                .filter(level -> level != TrustLevel.UNKNOWN && level.rank() == (int) rank)
                .findFirst()
                .map(TrustLevel::label)
                .orElse("unknown");
    }

    /** Whether decisions are not put in force at a level. */
    static boolean isAdvice(String level) {
        return level.equals(TrustLevel.OBSERVE.label()) || level.equals(TrustLevel.ADVISE.label());
    }

    /**
     * The finding of {@code doctor}.
     *
     * @param domains that are known; the starts of their schedulers may be older than what was read
     */
    Finding finding(Set<DomainId> domains) {
        List<String> low = new ArrayList<>();
        List<String> all = new ArrayList<>();
        starts.keySet()
                .forEach(domain -> level(domain).ifPresent(level -> {
                    all.add("domain %s: %s".formatted(domain, level));
                    if (isAdvice(level)) {
                        low.add("domain %s: the level of trust is %s, so no decision is carried out by itself"
                                .formatted(domain, level));
                    }
                }));
        if (!low.isEmpty()) {
            return Finding.warn("trust", String.join("; ", low), "'lendstream trust' shows how to raise it");
        }
        List<String> unseen = domains.stream()
                .filter(domain -> !starts.containsKey(domain) && level(domain).isEmpty())
                .map(domain -> "domain " + domain)
                .toList();
        if (!unseen.isEmpty()) {
            return Finding.warn(
                    "trust",
                    "the level of trust is unknown, as the log has no start of the scheduler, not yet or no longer: "
                            + String.join("; ", unseen),
                    "'lendstream trust' finds it from the last snapshot");
        }
        return Finding.ok(
                "trust",
                all.isEmpty() ? "no domain has a level of trust" : "levels of trust: " + String.join("; ", all));
    }
}
