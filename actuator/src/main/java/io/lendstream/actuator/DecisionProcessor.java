package io.lendstream.actuator;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Refusal;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.kafka.Received;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps decisions that were read until they are taken up, gives them to {@link Actuation}, and publishes reports. */
final class DecisionProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(DecisionProcessor.class);

    private final ActuatorSettings settings;
    private final RecordTransport transport;
    private final MeterRegistry metrics;
    private final Deque<PendingDecision> inbox = new ArrayDeque<>();
    private Actuation actuation;
    private boolean caughtUp;
    private boolean changed;

    DecisionProcessor(ActuatorSettings settings, RecordTransport transport, MeterRegistry metrics) {
        this.settings = settings;
        this.transport = transport;
        this.metrics = metrics;
        this.actuation = new Actuation(
                settings.name(), settings.leaseNotice(), settings.choice().changeDriver());
    }

    /** Goes on from the state of an earlier run. */
    void restore(ActuatorState state) {
        actuation = Actuation.restore(
                settings.name(), settings.leaseNotice(), settings.choice().changeDriver(), state.actuation());
        measure();
    }

    private void measure() {
        metrics.gauge(
                "lendstream.gpus.held",
                this,
                processor -> processor.actuation.heldGpus());
        metrics.gauge(
                "lendstream.reports.waiting",
                this,
                processor -> processor.transport.unsent().reports().size());
        for (Refusal refusal : Refusal.values()) {
            metrics.gauge(
                    "lendstream.refusals",
                    Tags.of("cause", refusal.name().toLowerCase(Locale.ROOT)),
                    this,
                    processor -> processor.actuation.refusals().getOrDefault(refusal, 0L));
        }
    }

    /** What it has under way. */
    Actuation actuation() {
        return actuation;
    }

    /** Keeps a decision until it is time to take it up. */
    void read(Received<Decision> received) {
        received.value().ifPresent(decision -> {
            if (settings.covers(decision.id().domain())) {
                inbox.add(new PendingDecision(decision, received.origin()));
            }
        });
    }

    /**
     * Takes up again what an earlier run had answered, now that the topics are read.
     *
     * @param reportsSince reports that the earlier run wrote after its last state
     */
    void catchUp(List<ActuationReport> reportsSince) {
        var recovery = new Recovery(reportsSince);
        var taken = new ArrayList<Decision>();
        var open = new ArrayDeque<PendingDecision>();
        for (PendingDecision pending : inbox) {
            if (recovery.wasTaken(pending.decision()) && open.isEmpty()) {
                taken.add(pending.decision());
            } else {
                open.add(pending);
            }
        }
        inbox.clear();
        inbox.addAll(open);
        caughtUp = true;
        publish(recovery.replay(actuation, taken));
    }

    /** Whether the topics were read to what was their end at the start. */
    boolean hasCaughtUp() {
        return caughtUp;
    }

    /** How many decisions wait to be taken up. */
    int pending() {
        return inbox.size();
    }

    /** Takes up all decisions by the machine's clock, and records how old they are. */
    List<ActuationReport> takeAll(Instant now) {
        var reports = new ArrayList<ActuationReport>();
        while (!inbox.isEmpty()) {
            Decision decision = inbox.removeFirst().decision();
            Duration delay = Duration.between(decision.at(), now);
            metrics.timer("lendstream.decision.delay").record(delay.isNegative() ? Duration.ZERO : delay);
            reports.addAll(take(decision, now));
        }
        return reports;
    }

    /**
     * Takes up some of the decisions, and leaves the others for later.
     *
     * @param learned the time at which a decision counts as read
     */
    List<ActuationReport> take(Predicate<PendingDecision> isDue, Function<Decision, Instant> learned) {
        var reports = new ArrayList<ActuationReport>();
        var later = new ArrayList<PendingDecision>();
        for (PendingDecision pending : inbox) {
            if (isDue.test(pending)) {
                reports.addAll(take(pending.decision(), learned.apply(pending.decision())));
            } else {
                later.add(pending);
            }
        }
        inbox.clear();
        inbox.addAll(later);
        return reports;
    }

    private List<ActuationReport> take(Decision decision, Instant learned) {
        if (settings.dryRun() && settings.driven().isEmpty()) {
            LOG.info(
                    "would carry out {}: {} {}",
                    decision.id(),
                    decision.action(),
                    decision.reason().text());
        }
        changed = true;
        metrics.counter("lendstream.decisions", "kind", decision.action().kind())
                .increment();
        return actuation.take(decision, learned);
    }

    /** Publishes reports, in parts where they are too long for one record. */
    void publish(List<ActuationReport> whole) {
        if (whole.isEmpty()) {
            return;
        }
        List<ActuationReport> reports =
                whole.stream().flatMap(report -> Parts.of(report).stream()).toList();
        transport.publish(reports);
        for (ActuationReport report : reports) {
            metrics.counter(
                            "lendstream.reports",
                            "outcome",
                            report.outcome().name().toLowerCase(Locale.ROOT))
                    .increment();
            LOG.debug("{}", report);
        }
        changed = true;
    }

    /** Sequence of the last decision of a domain that was read, in this run or an earlier one. */
    long lastRead(DomainId domain) {
        long taken = actuation.latest(domain).map(DecisionId::sequence).orElse(0L);
        return inbox.stream()
                .map(pending -> pending.decision().id())
                .filter(id -> id.domain().equals(domain))
                .mapToLong(DecisionId::sequence)
                .reduce(taken, Math::max);
    }

    /** The next decision to read after a restart, by {@code topic-partition}: the first that was not taken up. */
    Map<String, Long> positions() {
        Map<String, Long> decisions = transport.decisions();
        inbox.forEach(
                pending -> decisions.merge(pending.partition(), pending.origin().offset(), Math::min));
        return decisions;
    }

    /** Whether anything has changed that the saved state does not have. */
    boolean isChanged() {
        return changed;
    }

    /** Notes whether anything has changed that the saved state does not have. */
    void changed(boolean next) {
        changed = next;
    }
}
