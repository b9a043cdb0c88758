package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Checks a domain's history after the fact: no GPU with two owners at any time, no bind before a release, no more lent than
 * allowed, every decision answered or timed out and taken up once, none of an old epoch after one of a newer, every release
 * reported or its GPU put out of service, inference never under its floor, no job on fewer GPUs than it can run on, and the log replayed through the core gives exactly
 * the decisions that were published.
 */
public final class HistoryChecker {
    /** The rules that a history may break, by the names in {@link Violation#rule}. */
    static final Set<String> RULES = rules();

    private static final int MOST_PER_RULE = 20;
    /** Time beyond its deadline in which a decision may still be answered before that counts as silence. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final DomainId domain;
    private final Function<SchedulerStarted, Scheduler> schedulers;
    private final Replay replay;
    private final List<Violation> violations = new ArrayList<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private final Map<GpuId, Tenant> running = new HashMap<>();
    private final Map<GpuId, Instant> toldAt = new HashMap<>();
    private final Map<String, Map<DecisionId, Instant>> takenUp = new TreeMap<>();
    private final Map<DecisionId, Set<Outcome>> answers = new HashMap<>();
    private final Set<DecisionId> undone = new HashSet<>();
    private final Map<ServiceId, Integer> warmBefore = new HashMap<>();
    private final Gangs gangs = new Gangs();
    private final Set<Integer> reportsInLog = new HashSet<>();
    private int reports;
    private int lends;
    private int reclaims;

    private final List<Decision> replayed = new ArrayList<>();
    private final Map<GpuId, Lease> owners = new HashMap<>();
    private ClusterState state;
    private Optional<Scheduler> scheduler = Optional.empty();
    private int[] fingerprints = new int[1024];
    private boolean brokenOff;

    public HistoryChecker(DomainId domain) {
        this(domain, Scheduler::of);
    }

    /** @param schedulers the scheduler that a log's start describes */
    public HistoryChecker(DomainId domain, Function<SchedulerStarted, Scheduler> schedulers) {
        this(domain, schedulers, Scheduler::step);
    }

    /** @param replay what an event led to; another than {@link Scheduler#step} stands for a scheduler with a fault */
    HistoryChecker(DomainId domain, Function<SchedulerStarted, Scheduler> schedulers, Replay replay) {
        this.domain = domain;
        this.schedulers = schedulers;
        this.replay = replay;
        this.state = ClusterState.empty(domain);
    }

    /** What an event leads to, by a scheduler. */
    interface Replay {
        Step step(Scheduler scheduler, ClusterState state, DomainEvent event);
    }

    private static Set<String> rules() {
        Set<String> rules = new TreeSet<>(Invariants.RULES);
        rules.addAll(List.of("answer", "applied twice", "bind before release", "cap", "epoch", "fence", "floor"));
        rules.addAll(List.of("leases", "log", "release", "replay", "reports"));
        return Collections.unmodifiableSet(rules);
    }

    /**
     * Judges a history.
     *
     * @param log the domain's events in the order of {@code domain-events}
     * @param decisions what was published on {@code decisions}, in its order
     * @param leases the records of {@code leases} about the domain, as far as compaction left them, in their order
     */
    public static Verdict check(DomainId domain, List<DomainEvent> log, List<Decision> decisions, List<Lease> leases) {
        HistoryChecker checker = new HistoryChecker(domain);
        log.forEach(checker::take);
        return checker.verdict(decisions, leases);
    }

    /** Takes the next event of the log, which is replayed and not kept. */
    public void take(DomainEvent event) {
        if (brokenOff || isRepeated(event)) {
            return;
        }
        event.event().asStarted().ifPresent(this::started);
        if (scheduler.isEmpty()) {
            breakOff("event %d comes before any scheduler started".formatted(event.sequence()));
            return;
        }
        if (event.sequence() != state.eventSequence() + 1) {
            breakOff("event %d follows event %d".formatted(event.sequence(), state.eventSequence()));
            return;
        }
        event.event().asReport().ifPresent(this::take);
        event.event()
                .asCommand()
                .filter(command -> command.kind() == ControlCommand.Kind.RESET)
                .ifPresent(reset -> reset.gpus().forEach(running::remove));
        event.event().asNode().ifPresent(this::destroyed);
        remember(event);
        boolean ended = endsReplica(event);
        Step step = replay.step(scheduler.get(), state, event);
        state = step.state();
        replayed.addAll(step.decisions());
        boolean mayDecide = scheduler
                .flatMap(Scheduler::decidesFrom)
                .filter(state.now()::isBefore)
                .isEmpty();
        gangs.follow(state, event.event(), mayDecide);
        inspect(step, ended);
    }

    private void started(SchedulerStarted started) {
        if (started.epoch() <= state.epoch()) {
            violated(
                    "epoch",
                    "a scheduler took over in epoch %d, but epoch %d had been before"
                            .formatted(started.epoch(), state.epoch()));
        }
        scheduler = Optional.of(schedulers.apply(started));
    }

    /** Whether a replica has ended that nobody decided to end; one that a decision ends is no warm replica any more by then. */
    private boolean endsReplica(DomainEvent event) {
        return event.event()
                .asReport()
                .filter(report -> report.gpus().stream()
                        .flatMap(gpu -> state.gpus().get(gpu).stream())
                        .flatMap(gpu -> warmReplicaOf(gpu.owner()).stream())
                        .anyMatch(service -> tellsTheEnd(report, new Tenant.Service(service))))
                .isPresent();
    }

    private static boolean tellsTheEnd(ActuationReport report, Tenant replica) {
        return switch (report.outcome()) {
            case RELEASED, FORCED -> report.tenant().filter(replica::equals).isPresent();
            case HOLDS -> report.tenant().filter(replica::equals).isEmpty();
            default -> false;
        };
    }

    /** The judgement on the log so far, and on what was published besides. */
    public Verdict verdict(List<Decision> published, List<Lease> leases) {
        compare(published);
        compareLeases(leases);
        allAnswered();
        allReleased();
        noneOfAnOldEpoch();
        return new Verdict((int) state.eventSequence(), published.size(), reports, lends, reclaims, violations);
    }

    /** Takes a report as it stands on {@code actuation-reports}, after the log: the scheduler must have heard of it. */
    public void heard(ActuationReport report) {
        takenUp(report);
        if (!brokenOff && !reportsInLog.contains(report.hashCode())) {
            violated(
                    "reports",
                    "the report %s on %s of %s is not in the log"
                            .formatted(report.outcome(), report.decision(), report.at()));
        }
    }

    /** At-least-once delivery may write an event again; the same event twice is no harm, two different ones are. */
    private boolean isRepeated(DomainEvent event) {
        if (event.sequence() > state.eventSequence()) {
            return false;
        }
        if (fingerprints[(int) event.sequence()] != event.hashCode()) {
            violated("log", "event %d was written twice, with different contents".formatted(event.sequence()));
        }
        return true;
    }

    private void remember(DomainEvent event) {
        int at = (int) event.sequence();
        if (at >= fingerprints.length) {
            fingerprints = Arrays.copyOf(fingerprints, 2 * at);
        }
        fingerprints[at] = event.hashCode();
    }

    private void breakOff(String text) {
        violated("log", text);
        brokenOff = true;
    }

    private void take(ActuationReport report) {
        reports++;
        reportsInLog.add(report.hashCode());
        if (report.outcome() != Outcome.HOLDS) {
            answers.computeIfAbsent(report.decision(), id -> new HashSet<>()).add(report.outcome());
        }
        takenUp(report);
        boolean binds = report.outcome() == Outcome.BOUND && report.tenant().isPresent();
        boolean frees = report.outcome() == Outcome.RELEASED
                || report.outcome() == Outcome.FORCED
                || (report.outcome() == Outcome.HOLDS && report.tenant().isEmpty());
        for (GpuId gpu : binds || frees ? report.gpus() : List.<GpuId>of()) {
            if (toldAt.getOrDefault(gpu, Instant.MIN).isAfter(report.at())) {
                // Overtaken on its way: what it says of this GPU was over when a later report came.
                continue;
            }
            toldAt.put(gpu, report.at());
            if (frees) {
                running.remove(gpu);
                continue;
            }
            Tenant tenant = report.tenant().orElseThrow();
            Tenant before = running.put(gpu, tenant);
            if (before != null && !before.equals(tenant)) {
                violated(
                        "bind before release",
                        "%s was bound to %s at %s while %s ran on it".formatted(gpu, tenant, report.at(), before));
            }
        }
    }

    /** The same report may come twice; a decision is taken up once, and so at one time. */
    private void takenUp(ActuationReport report) {
        if (report.outcome() != Outcome.ACCEPTED) {
            return;
        }
        Instant before = takenUp.computeIfAbsent(report.actuator(), name -> new HashMap<>())
                .putIfAbsent(report.decision(), report.at());
        if (before != null && !before.equals(report.at())) {
            violated(
                    "applied twice",
                    "decision %s was taken up by %s at %s and again at %s"
                            .formatted(report.decision(), report.actuator(), before, report.at()));
        }
    }

    /** A MIG instance that its node no longer has was destroyed, which no driver does while something runs on it. */
    private void destroyed(Node node) {
        Map<String, Set<MigInstance>> instances = new HashMap<>();
        for (Gpu gpu : node.gpus()) {
            Set<MigInstance> there = gpu.instances().stream()
                    .map(instance -> MigInstance.of(gpu, instance))
                    .collect(Collectors.toSet());
            instances.put(gpu.gpuId().value(), there);
        }
        running.keySet().removeIf(unit -> {
            int slash = unit.value().indexOf('/');
            Set<MigInstance> there = instances.get(slash < 0 ? "" : unit.value().substring(0, slash));
            return there != null
                    && state.gpus()
                            .get(unit)
                            .flatMap(GpuState::instance)
                            .filter(there::contains)
                            .isEmpty();
        });
    }

    private void inspect(Step step, boolean ended) {
        if (!step.changed().owners().isEmpty() || !step.changed().jobs().isEmpty()) {
            Invariants.check(state, gangs.broken()).forEach(violation -> violated(violation.rule(), violation.text()));
        }
        boolean fault = ended;
        for (GpuId gpu : step.changed().owners()) {
            Optional<GpuState> next = state.gpus().get(gpu);
            if (next.isPresent()) {
                owners.put(gpu, next.get().lease(domain, state.epoch()));
                if (next.get().owner().isQuarantined()) {
                    fault = true;
                    // What was under way on it will not be answered.
                    step.decisions().forEach(decision -> undone.add(decision.id()));
                }
            } else {
                owners.remove(gpu);
            }
        }
        for (Decision decision : step.decisions()) {
            inspect(decision);
        }
        if (!step.changed().owners().isEmpty()) {
            floors(fault);
        }
    }

    private void inspect(Decision decision) {
        boolean isLoan = decision.action().asLend().isPresent();
        if (isLoan) {
            lends++;
            cap(decision);
        } else if (decision.action().asReclaim().isPresent()) {
            reclaims++;
        }
        gangs.check(decision, state).ifPresent(violation -> violated(violation.rule(), violation.text()));
        boolean startsCold =
                decision.action().asServe().filter(serve -> !serve.warm()).isPresent();
        if (isLoan || startsCold) {
            for (GpuId gpu : decision.action().gpus()) {
                if (running.containsKey(gpu)) {
                    violated(
                            "bind before release",
                            "decision %s binds %s, where %s still runs"
                                    .formatted(decision.id(), gpu, running.get(gpu)));
                }
            }
        }
    }

    /** Of MIG instances, which are lent by another rule, nothing is said. */
    private void cap(Decision decision) {
        List<GpuState> inference = state.gpus().stream()
                .filter(gpu -> gpu.pool() == Pool.INFERENCE && gpu.isWhole())
                .toList();
        long lent = inference.stream().filter(gpu -> isLent(gpu.owner())).count();
        double share =
                scheduler.map(known -> known.settings().guards().maxShareLent()).orElse(1.0);
        if (lent > Math.floor(share * inference.size())) {
            violated(
                    "cap",
                    "with decision %s, %d of %d inference GPUs are lent, more than the share of %s"
                            .formatted(decision.id(), lent, inference.size(), share));
        }
    }

    private static boolean isLent(Owner owner) {
        return owner.isLent() || owner.asBinding().flatMap(Owner.Binding::until).isPresent();
    }

    /**
     * A fault may take replicas away; a decision must not take those that the floor needs. Of a service that is planned onto MIG
     * instances, how many there are says little.
     */
    private void floors(boolean fault) {
        Map<ServiceId, Integer> warm = new HashMap<>();
        Set<ServiceId> planned = new HashSet<>();
        state.slices().ifPresent(plan -> planned.addAll(plan.services()));
        for (GpuState gpu : state.gpus().values()) {
            Optional<ServiceId> service = warmReplicaOf(gpu.owner());
            service.ifPresent(name -> warm.merge(name, 1, Integer::sum));
            service.filter(name -> !gpu.isWhole()).ifPresent(planned::add);
        }
        for (ServiceState service : state.services().values()) {
            ServiceId name = service.spec().service();
            int has = warm.getOrDefault(name, 0);
            int had = warmBefore.getOrDefault(name, 0);
            int floor = service.spec().floorReplicas();
            if (has < floor && has < had && !fault && !planned.contains(name)) {
                violated(
                        "floor",
                        "service %s went from %d to %d replicas at %s, under its floor of %d"
                                .formatted(name, had, has, state.now(), floor));
            }
        }
        warmBefore.clear();
        warmBefore.putAll(warm);
    }

    private static Optional<ServiceId> warmReplicaOf(Owner owner) {
        return owner.isUp() ? owner.replicaOf() : Optional.empty();
    }

    private void compare(List<Decision> published) {
        Map<DecisionId, Decision> seen = new LinkedHashMap<>();
        for (Decision decision : published) {
            Decision earlier = seen.putIfAbsent(decision.id(), decision);
            if (earlier != null && !earlier.equals(decision)) {
                violated("replay", "decision %s was published twice, with different contents".formatted(decision.id()));
            }
        }
        List<Decision> once = List.copyOf(seen.values());
        for (int i = 0; i < Math.max(once.size(), replayed.size()); i++) {
            Optional<Decision> was = i < once.size() ? Optional.of(once.get(i)) : Optional.empty();
            Optional<Decision> is = i < replayed.size() ? Optional.of(replayed.get(i)) : Optional.empty();
            if (!was.equals(is)) {
                violated("replay", "decision %d was published as %s, but the log gives %s".formatted(i + 1, was, is));
                return;
            }
        }
    }

    private void compareLeases(List<Lease> leases) {
        Map<GpuId, Lease> latest = new HashMap<>();
        leases.forEach(lease -> latest.put(lease.gpuId(), lease));
        owners.forEach((gpu, lease) -> {
            Lease published = latest.get(gpu);
            if (!lease.equals(published)) {
                violated("leases", "%s is published as %s, but the log gives %s".formatted(gpu, published, lease));
            }
        });
    }

    private void allAnswered() {
        Instant end = state.now();
        for (Decision decision : replayed) {
            boolean asks = !decision.action().isHold() && !decision.advisory();
            boolean due = decision.deadline().plus(PATIENCE).isBefore(end);
            if (asks && due && !answers.containsKey(decision.id()) && !undone.contains(decision.id())) {
                violated(
                        "answer",
                        "decision %s (%s) was due at %s and nobody reported on it"
                                .formatted(decision.id(), decision.action().kind(), decision.deadline()));
            }
        }
    }

    /** A release that nobody reports puts its GPU out of service, which somebody has to see to: no reclaim is forgotten. */
    private void allReleased() {
        for (GpuState gpu : state.gpus().values()) {
            gpu.owner()
                    .asReleasing()
                    .filter(releasing -> releasing.alarmAt().plus(PATIENCE).isBefore(state.now()))
                    .ifPresent(releasing -> violated(
                            "release",
                            "%s was to be released by decision %s until %s, and nobody was alarmed when it was not"
                                    .formatted(gpu.gpuId(), releasing.decision(), releasing.by())));
        }
    }

    /** What an actuator takes up goes up in epoch and sequence, by its own clock. */
    private void noneOfAnOldEpoch() {
        takenUp.forEach((actuator, times) -> {
            List<Map.Entry<DecisionId, Instant>> inTime = times.entrySet().stream()
                    .sorted(Map.Entry.<DecisionId, Instant>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                    .toList();
            for (int i = 1; i < inTime.size(); i++) {
                DecisionId before = inTime.get(i - 1).getKey();
                DecisionId after = inTime.get(i).getKey();
                if (after.compareTo(before) < 0) {
                    violated("fence", "%s took up decision %s after %s".formatted(actuator, after, before));
                }
            }
        });
    }

    private void violated(String rule, String text) {
        if (!RULES.contains(rule)) {
            throw new IllegalArgumentException("the rule '%s' is not listed; rules are %s".formatted(rule, RULES));
        }
        if (counts.merge(rule, 1, Integer::sum) <= MOST_PER_RULE) {
            violations.add(new Violation(rule, text));
        }
    }
}
