package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.LogPosition;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Checks a domain's history against the promises of the scheduler. No GPU has two owners at any time, no bind comes
 * before a release, and no more is lent than the settings and the level of trust allow. Every decision is answered or
 * timed out and taken up once, and none of an old epoch after one of a newer. Every release is reported, or its GPU is
 * out of service. Inference is never under its floor, and no job has fewer GPUs than it can run on or gets GPUs of
 * several kinds. No replica of several units works with some of them only, and no gang trains with some of the units
 * that it gets. No decision raises a queue above its limit, gives a job what its shape forbids, or gives jobs more
 * host memory of a node than it has. What a lowered quota leaves above a limit is taken back. The log replayed through
 * the core gives exactly the published decisions and snapshots.
 */
public final class HistoryChecker {
    /** The rules that a history may break, by the names in {@link Violation#rule}. */
    static final Set<String> RULES = Rule.names();

    private final Function<SchedulerStarted, Scheduler> schedulers;
    private final Replay replay;
    private final Violations violations = new Violations();
    private final LogRule log = new LogRule(violations);
    private final ReportRule reportRule = new ReportRule(violations, log);
    private final SnapshotRule snapshots = new SnapshotRule(violations);
    /** In the order in which they list what they find. */
    private final List<HistoryRule> rules;

    /** The snapshot after which the check began. */
    private Optional<LogPosition> start = Optional.empty();

    private final List<Decision> replayed = new ArrayList<>();
    private ClusterState state;
    private Optional<Scheduler> scheduler = Optional.empty();
    private int reports;
    private int lends;
    private int reclaims;
    private int releases;

    public HistoryChecker(DomainId domain) {
        this(domain, Scheduler::of);
    }

    /** @param schedulers the scheduler that a log's start describes */
    public HistoryChecker(DomainId domain, Function<SchedulerStarted, Scheduler> schedulers) {
        this(domain, schedulers, Scheduler::step);
    }

    /** @param replay what an event led to; another than {@link Scheduler#step} stands for a scheduler with a fault */
    HistoryChecker(DomainId domain, Function<SchedulerStarted, Scheduler> schedulers, Replay replay) {
        this.schedulers = schedulers;
        this.replay = replay;
        this.state = ClusterState.empty(domain);
        this.rules = List.of(
                new BundleRule(violations),
                new CapRule(violations),
                new GangRule(violations),
                new GroupRule(violations),
                new GainRule(violations),
                new HostRule(violations),
                new KindRule(violations),
                new QuotaRule(violations),
                new LoweredQuotaRule(violations),
                new ShapeRule(violations),
                new SloRule(violations),
                new TrustRule(violations),
                new ReplayRule(violations),
                new LeaseRule(domain, violations),
                new AnswerRule(violations),
                new TakeUpRule(violations),
                new TenancyRule(violations),
                reportRule,
                new FloorRule(violations),
                new RoleFloorRule(violations),
                snapshots);
    }

    /**
     * Begins after a snapshot instead of the beginning of the log; to be called before the first event. {@link #limits}
     * says what can then not be judged.
     *
     * @throws IllegalArgumentException if this version has no such scheduler
     */
    public HistoryChecker after(Snapshot snapshot) {
        scheduler = Optional.of(schedulers.apply(snapshot.scheduler()));
        state = snapshot.state();
        start = Optional.of(state.position());
        log.startAfter(snapshot.sequence());
        reportRule.startAfter(state.now());
        return this;
    }

    /** Expects that the log gives the state of a snapshot; to be called before the log has come so far. */
    public void expect(Snapshot snapshot) {
        snapshots.expect(snapshot);
    }

    /** What was not judged, or in part, as sentences; none if the check began with the log. */
    public List<String> limits() {
        return start.map(from -> List.of(
                        "The check began after event %d, %s. Earlier events, and decisions up to %d, were not judged."
                                .formatted(from.eventSequence(), from.now(), from.decisionSequence()),
                        "'bind before release' was judged only where the tenant was bound or counted after that.",
                        "'answer' was judged only for later decisions; 'applied twice' and 'fence' only for later reports.",
                        "'leases' were judged only for units whose owners changed later.",
                        "'reports' were judged only if their time is later.",
                        "'group' was judged only for GPUs that gangs got later; 'quota' not for limits lowered earlier.",
                        "'floor' was judged from the second change of owners on."))
                .orElse(List.of());
    }

    /** What an event leads to, by a scheduler. */
    interface Replay {
        Step step(Scheduler scheduler, ClusterState state, DomainEvent event);
    }

    /**
     * Judges a history.
     *
     * @param log the domain's events in the order of {@code domain-events}
     * @param decisions the records of the topic {@code decisions}, in their order
     * @param leases the records of {@code leases} about the domain, as far as compaction left them, in their order
     */
    public static Verdict check(DomainId domain, List<DomainEvent> log, List<Decision> decisions, List<Lease> leases) {
        HistoryChecker checker = new HistoryChecker(domain);
        log.forEach(checker::take);
        return checker.verdict(decisions, leases);
    }

    /** Takes the next event of the log, which is replayed and not kept. */
    public void take(DomainEvent event) {
        if (log.isBrokenOff() || log.isRepeated(event, state)) {
            return;
        }
        event.event().asStarted().ifPresent(this::started);
        if (!log.goesOn(event, state, scheduler.isPresent())) {
            return;
        }
        if (event.event().asReport().isPresent()) {
            reports++;
        }
        rules.forEach(rule -> rule.before(event, state));
        log.remember(event);
        replay(event, scheduler.orElseThrow());
    }

    private void started(SchedulerStarted started) {
        log.started(started, state);
        scheduler = Optional.of(schedulers.apply(started));
    }

    private void replay(DomainEvent event, Scheduler by) {
        Step step = replay.step(by, state, event);
        state = step.state();
        replayed.addAll(step.decisions());
        Scheduler inForce = by.in(state);
        scheduler = Optional.of(inForce);
        ReplayedEvent led = new ReplayedEvent(event, inForce, step);
        rules.forEach(rule -> rule.take(led));
        for (Decision decision : step.decisions()) {
            count(decision);
            rules.forEach(rule -> rule.decided(decision, led));
        }
        rules.forEach(rule -> rule.settled(led));
    }

    private void count(Decision decision) {
        if (decision.action().asLend().isPresent()) {
            lends++;
        } else if (decision.isReclaim()) {
            reclaims++;
        } else if (decision.isRelease()) {
            releases++;
        }
    }

    /** The verdict on the log so far, and on the published decisions and leases. */
    public Verdict verdict(List<Decision> published, List<Lease> leases) {
        long unjudged = start.map(LogPosition::decisionSequence).orElse(0L);
        List<Decision> judged = published.stream()
                .filter(decision -> decision.id().sequence() > unjudged)
                .toList();
        HistoryEnd end = new HistoryEnd(state, replayed, judged, leases);
        rules.forEach(rule -> rule.end(end));
        return new Verdict(
                (int) (state.eventSequence()
                        - start.map(LogPosition::eventSequence).orElse(0L)),
                judged.size(),
                reports,
                lends,
                reclaims,
                releases,
                violations.found());
    }

    /** Takes a report from {@code actuation-reports}, after the log: the log must contain it. */
    public void heard(ActuationReport report) {
        rules.forEach(rule -> rule.heard(report));
    }
}
