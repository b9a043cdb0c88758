package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.AdvisedGain;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The advice that stands, for people and for tools, from the logs of its domains. */
final class ExplainedAdvice {
    private final GpuNames names;
    private final ReplayedLogs logs;

    /**
     * The advice of one domain or of all.
     *
     * @param wanted the domain; empty for all
     * @param names short names of GPUs
     */
    ExplainedAdvice(Optional<DomainId> wanted, GpuNames names) {
        this.logs = new ReplayedLogs(wanted);
        this.names = names;
    }

    /** Takes the snapshot of a domain after which its log is replayed. */
    void begin(Snapshot snapshot) {
        logs.begin(snapshot);
    }

    /** Takes the next event of a log. */
    void take(DomainEvent event) {
        logs.take(event);
    }

    /** The age of a decision. Virtual time is behind the last event, so that counts then. */
    private static Duration age(Decision decision, LendingExplainer log, Instant at) {
        Instant now = at.isAfter(log.lastEventAt()) ? at : log.lastEventAt();
        return Duration.between(decision.at(), now);
    }

    /** The advice for people: a line for each decision, oldest first. */
    List<String> lines(Instant at) {
        List<String> lines = new ArrayList<>();
        logs.byDomain().forEach((domain, log) -> {
            Optional<String> obstacle = log.obstacle();
            if (obstacle.isPresent()) {
                lines.add("domain %s: its advice is unknown: %s; 'lendstream top' shows the newest decisions"
                        .formatted(domain, obstacle.get()));
                return;
            }
            lines.add("domain %s: %s (event %d of its log, %s, replayed %s)"
                    .formatted(
                            domain,
                            counted(log),
                            log.lastEvent(),
                            Times.exact(log.lastEventAt()),
                            ReplayStart.inWords(log.start())));
            gained(log.gain()).ifPresent(lines::add);
            for (Decision decision : log.advice()) {
                lines.add("  %-24s %10s  %s"
                        .formatted(
                                decision.id(),
                                Diagnosis.age(age(decision, log, at)),
                                names.in(EventText.of(decision))));
            }
        });
        return lines;
    }

    private static String counted(LendingExplainer log) {
        int standing = log.advice().size();
        if (standing == 0) {
            return log.isAdvisory() ? "no advice stands" : "no advice, because advisory mode is off";
        }
        return standing == 1
                ? "1 decision of advice stands, with the reason that it had when it was advised"
                : "%d decisions of advice stand, each with the reason that it had when it was advised"
                        .formatted(standing);
    }

    /** What following the advice would have gained; empty if none was given in the replayed time. */
    private static Optional<String> gained(AdvisedGain gain) {
        return gain.covered().isZero()
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "  estimate for %s of advice: on average %.1f of %.1f GPUs of inference would be lent (%.1f GPU-hours), and %.1f more would be freed from replicas that are not needed",
                        Diagnosis.age(gain.covered()),
                        gain.lent(),
                        gain.units(),
                        gain.lentHours(),
                        gain.freed()));
    }

    /** The advice for tools. */
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
            one.put("event", log.lastEvent())
                    .put("eventAt", log.lastEventAt().toString())
                    .put("advisory", log.isAdvisory());
            ReplayStart.put(one, log.start());
            AdvisedGain gain = log.gain();
            one.putObject("estimate")
                    .put("seconds", gain.covered().toSeconds())
                    .put("inferenceGpus", gain.units())
                    .put("lentGpus", gain.lent())
                    .put("lentGpuHours", gain.lentHours())
                    .put("freedGpus", gain.freed());
            ArrayNode advice = one.putArray("advice");
            log.advice()
                    .forEach(decision -> advice.add(Explained.json(decision)
                            .put("ageSeconds", age(decision, log, at).toSeconds())));
        });
        return json;
    }
}
