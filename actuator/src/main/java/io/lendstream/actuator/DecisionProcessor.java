package io.lendstream.actuator;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Refusal;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Queues decisions until they are due, passes them to {@link Actuation}, and publishes reports. */
final class DecisionProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(DecisionProcessor.class);

    private final ActuatorSettings settings;
    private final RecordTransport transport;
    private final MeterRegistry metrics;
    private final TimeMode time;
    private final Deque<PendingDecision> inbox = new ArrayDeque<>();
    private Actuation actuation;
    private boolean caughtUp;
    private boolean changed;

    DecisionProcessor(ActuatorSettings settings, RecordTransport transport, MeterRegistry metrics, TimeMode time) {
        this.settings = settings;
        this.transport = transport;
        this.metrics = metrics;
        this.time = time;
        this.actuation = bounded(new Actuation(
                settings.name(), settings.leaseNotice(), settings.choice().changeDriver()));
    }

    private Actuation bounded(Actuation unbounded) {
        unbounded.keepTo(settings.nodes());
        if (time == TimeMode.WALL) {
            unbounded.refuseLate();
        }
        return unbounded;
    }

    /** Restores the state of an earlier run. */
    void restore(ActuatorState state) {
        actuation = bounded(Actuation.restore(
                settings.name(), settings.leaseNotice(), settings.choice().changeDriver(), state.actuation()));
        measure();
    }

    private void measure() {
        metrics.gauge("lendstream.gpus.held", this, processor -> processor.actuation.heldGpus());
        metrics.gauge(
                "lendstream.reports.waiting",
                this,
                processor -> processor.transport.unsent().reports().size());
        for (Refusal refusal : EnumSet.complementOf(EnumSet.of(Refusal.UNKNOWN))) {
            metrics.gauge(
                    "lendstream.refusals",
                    Tags.of("cause", refusal.name().toLowerCase(Locale.ROOT)),
                    this,
                    processor -> processor.actuation.refusals().getOrDefault(refusal, 0L));
        }
        Decision.ALL_COUNTED_AS.forEach(this::decisions);
        EnumSet.complementOf(EnumSet.of(Outcome.UNKNOWN)).forEach(this::reports);
    }

    private Counter decisions(String kind) {
        return metrics.counter("lendstream.decisions", "kind", kind);
    }

    private Counter reports(Outcome outcome) {
        return metrics.counter("lendstream.reports", "outcome", outcome.name().toLowerCase(Locale.ROOT));
    }

    /** The orders in progress. */
    Actuation actuation() {
        return actuation;
    }

    /** Queues a decision until it is due. */
    void read(Received<Decision> received) {
        received.value().ifPresent(decision -> {
            if (settings.covers(decision.id().domain())) {
                inbox.add(new PendingDecision(decision, received.origin()));
            }
        });
    }

    /**
     * Repeats the decisions that an earlier run had answered, after the topics have been read. Decisions about other
     * actuators are never answered.
     *
     * @param reportsSince reports that the earlier run wrote after its last saved state
     */
    void catchUp(List<ActuationReport> reportsSince) {
        var recovery = new Recovery(reportsSince);
        var taken = new ArrayList<Decision>();
        var open = new ArrayDeque<PendingDecision>();
        for (PendingDecision pending : inbox) {
            boolean isAnswered = recovery.wasTaken(pending.decision()) || !actuation.isAbout(pending.decision());
            if (isAnswered && open.isEmpty()) {
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

    /** Whether the topics have been read up to their end at the start. */
    boolean hasCaughtUp() {
        return caughtUp;
    }

    /** The number of queued decisions. */
    int pending() {
        return inbox.size();
    }

    /** Processes all decisions by the wall clock, and records their age. */
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
     * Processes some of the decisions, and leaves the others queued.
     *
     * @param learned the time at which a decision counts as received
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
                    "dry run: would execute {}: {} {}",
                    decision.id(),
                    decision.action(),
                    decision.reason().text());
        }
        changed = true;
        List<ActuationReport> reports = actuation.take(decision, learned);
        if (reports.stream().noneMatch(report -> isRefusalOf(report, decision))) {
            decisions(decision.countedAs()).increment();
        }
        return reports;
    }

    private static boolean isRefusalOf(ActuationReport report, Decision decision) {
        return report.outcome() == Outcome.REJECTED && report.decision().equals(decision.id());
    }

    /** Publishes reports, split if they are too long for one record. */
    void publish(List<ActuationReport> whole) {
        if (whole.isEmpty()) {
            return;
        }
        List<ActuationReport> reports =
                whole.stream().flatMap(report -> Parts.of(report).stream()).toList();
        transport.publish(reports);
        for (ActuationReport report : reports) {
            reports(report.outcome()).increment();
            LOG.debug("{}", report);
        }
        changed = true;
    }

    /** Sequence of the last decision received for a domain, in this run or an earlier one. */
    long lastRead(DomainId domain) {
        long taken = actuation.latest(domain).map(DecisionId::sequence).orElse(0L);
        return inbox.stream()
                .map(pending -> pending.decision().id())
                .filter(id -> id.domain().equals(domain))
                .mapToLong(DecisionId::sequence)
                .reduce(taken, Math::max);
    }

    /** The first unprocessed decision, by {@code topic-partition}: where reading starts after a restart. */
    Map<String, Long> positions() {
        Map<String, Long> decisions = transport.decisions();
        inbox.forEach(
                pending -> decisions.merge(pending.partition(), pending.origin().offset(), Math::min));
        return decisions;
    }

    /** Whether anything has changed since the last saved state. */
    boolean isChanged() {
        return changed;
    }

    /** Sets whether anything has changed since the last saved state. */
    void changed(boolean next) {
        changed = next;
    }
}
