package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.TrustRules;
import io.lendstream.core.state.Trust;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The levels of trust, for people and for tools, from the logs of their domains. */
final class ShownTrust {
    private final ReplayedLogs logs;

    /** @param wanted the domain; empty for all */
    ShownTrust(Optional<DomainId> wanted) {
        this.logs = new ReplayedLogs(wanted);
    }

    /** Takes the snapshot of a domain after which its log is replayed. */
    void begin(Snapshot snapshot) {
        logs.begin(snapshot);
    }

    /** Takes the next event of a log. */
    void take(DomainEvent event) {
        logs.take(event);
    }

    /** The levels for people. */
    List<String> lines(Instant at) {
        List<String> lines = new ArrayList<>();
        logs.byDomain().forEach((domain, log) -> {
            Optional<String> obstacle = log.obstacle();
            Optional<Trust> trust = log.mode().trust();
            if (obstacle.isPresent()) {
                lines.add("domain %s: its level of trust is unknown: %s".formatted(domain, obstacle.get()));
            } else if (trust.isEmpty()) {
                lines.add(
                        "domain %s: all, without a record of late reclaims; any order, such as 'lendstream trust all', begins one"
                                .formatted(domain));
            } else {
                lines.add("domain %s: %s since %s, by %s: %s"
                        .formatted(
                                domain,
                                trust.get().inWords(),
                                Times.at(trust.get().since()),
                                trust.get().by(),
                                effect(trust.get().level())));
                lines.add("  %s without a late reclaim%s"
                        .formatted(
                                TrustRules.inWords(clean(trust.get(), now(log, at))),
                                trust.get()
                                        .lastLateAt()
                                        .map(late -> "; %s so far, the last at %s"
                                                .formatted(
                                                        Reason.counted(
                                                                (int) trust.get()
                                                                        .lateReclaims(),
                                                                "GPU"),
                                                        Times.at(late)))
                                        .orElse("")));
                lines.add("  " + next(domain, log, now(log, at)));
            }
        });
        return lines;
    }

    /** Virtual time is behind the last event, so that counts then. */
    private static Instant now(LendingExplainer log, Instant at) {
        return at.isAfter(log.lastEventAt()) ? at : log.lastEventAt();
    }

    private static Duration clean(Trust trust, Instant now) {
        return Duration.between(trust.cleanSince(), now);
    }

    private static Optional<String> against(LendingExplainer log, TrustLevel next, Instant now) {
        return log.scheduler()
                .flatMap(
                        scheduler -> scheduler.settings().changeLimits().trust().againstRising(log.mode(), next, now));
    }

    private static String next(DomainId domain, LendingExplainer log, Instant now) {
        Optional<TrustLevel> next = log.mode().level().next();
        if (next.isEmpty()) {
            return "it is the highest level";
        }
        return against(log, next.get(), now)
                .map(why -> "next: %s, not yet: %s".formatted(next.get().label(), why))
                .orElseGet(() -> "next: 'lendstream trust %s%s --domain %s --reason TEXT' is possible now"
                        .formatted(
                                next.get().label(),
                                next.get() == TrustLevel.ONE_SERVICE ? " --service S" : "",
                                domain));
    }

    private static String effect(TrustLevel level) {
        return switch (level) {
            case UNKNOWN, OBSERVE -> "no decision is made";
            case ADVISE -> "decisions are only advice";
            case ONE_SERVICE -> "only GPUs that this service leaves idle are lent";
            case SHARE -> "at most scheduler.trust-share of inference GPUs is lent";
            case ALL -> "no limit but the settings";
        };
    }

    /** The levels for tools. */
    ObjectNode json(Instant at) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode all = json.putArray("domains");
        logs.byDomain().forEach((domain, log) -> {
            ObjectNode one = all.addObject().put("domain", domain.value());
            Optional<String> obstacle = log.obstacle();
            if (obstacle.isPresent()) {
                one.put("obstacle", obstacle.get());
                return;
            }
            one.put("level", log.mode().level().label());
            log.mode().trust().ifPresent(trust -> put(one, trust, log, now(log, at)));
        });
        return json;
    }

    private static void put(ObjectNode one, Trust trust, LendingExplainer log, Instant now) {
        trust.service().ifPresent(service -> one.put("service", service.value()));
        one.put("since", trust.since().toString())
                .put("by", trust.by())
                .put("lateReclaims", trust.lateReclaims())
                .put("secondsWithoutLateReclaim", clean(trust, now).toSeconds());
        trust.lastLateAt().ifPresent(late -> one.put("lastLateAt", late.toString()));
        trust.loweredAt().ifPresent(lowered -> one.put("loweredAt", lowered.toString()));
        trust.level().next().ifPresent(next -> {
            Optional<String> refusal = against(log, next, now);
            one.put("next", next.label()).put("mayRise", refusal.isEmpty());
            refusal.ifPresent(why -> one.put("why", why));
        });
    }
}
