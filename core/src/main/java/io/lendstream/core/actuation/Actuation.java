package io.lendstream.core.actuation;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Pool;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What an actuator does with decisions, and what it reports: obeys the latest epoch, each decision once and none that is
 * only advice; binds a GPU only when nobody has it; and returns a GPU when its lease runs out. How long things take, and
 * what goes wrong, is the {@link DelayModel}'s.
 *
 * <p>It has no clock: it is told the time with every call, and reports come in the order of their times. Everything that
 * changes a job names all the job's GPUs afterwards; what the job has and is not named is released, what is named and
 * the job has not is bound. A decision that cannot be carried out as a whole is refused as a whole; what the
 * allocation names but the job cannot have, such as a GPU whose lease has just run out, is left out instead.
 *
 * <p>What a {@link Course} says beforehand is done by itself, in simulation. What is {@link Course#DRIVEN} is ordered from a driver,
 * which tells what it has done; where it does not leave in time, killing is ordered, again and again until it has left: nothing is
 * reported as free before it is.
 *
 * <p>When a job is changed again before the last change is in force, both are reported applied together: the older as
 * superseded.
 */
public final class Actuation {
    /** How long killing may take before it is ordered again. */
    static final Duration KILL_AGAIN = Duration.ofSeconds(10);
    /** How long after a decision's deadline it counts as not achieved that it is in force. */
    static final Duration PATIENCE = Duration.ofMinutes(5);

    private final String actuator;
    private final Duration leaseNotice;
    private final DelayModel delays;

    private final Map<GpuId, Pool> pools = new HashMap<>();
    private final Map<NodeId, List<GpuId>> gpusByNode = new HashMap<>();
    private final Map<GpuId, Gpu> cuttable = new HashMap<>();
    private final Map<JobId, TrainingJob> jobs = new HashMap<>();
    private final Map<ServiceId, InferenceService> services = new HashMap<>();

    private final Map<DomainId, DecisionId> latest = new TreeMap<>();
    private final Holdings holdings = new Holdings();
    private final TreeSet<Step> steps = new TreeSet<>();
    private final Map<Tenant, Order.Place> places = new HashMap<>();
    private final Map<GpuId, Order.Cut> cuts = new TreeMap<>();
    private final List<Order> orders = new ArrayList<>();
    private final EnumMap<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
    private Instant clock = Instant.EPOCH;
    private long nextOrder;

    /**
     * @param actuator its name in reports
     * @param leaseNotice how long a job gets to leave a GPU whose lease has run out
     */
    public Actuation(String actuator, Duration leaseNotice, DelayModel delays) {
        this.actuator = actuator;
        this.leaseNotice = leaseNotice;
        this.delays = delays;
    }

    /** Goes on where another left off; it still has to be told of nodes, jobs and services. */
    public static Actuation restore(
            String actuator, Duration leaseNotice, DelayModel delays, ActuationSnapshot snapshot) {
        var restored = new Actuation(actuator, leaseNotice, delays);
        restored.clock = snapshot.clock();
        restored.nextOrder = snapshot.nextOrder();
        snapshot.latest().forEach(id -> restored.latest.put(id.domain(), id));
        snapshot.holdings().forEach(restored.holdings::put);
        restored.steps.addAll(snapshot.steps());
        snapshot.places().forEach(place -> restored.places.put(place.tenant(), place));
        snapshot.cuts().forEach(cut -> restored.cuts.put(cut.gpu(), cut));
        snapshot.refusals().forEach(count -> restored.refusals.put(count.refusal(), count.times()));
        return restored;
    }

    public ActuationSnapshot snapshot() {
        return new ActuationSnapshot(
                clock,
                nextOrder,
                List.copyOf(latest.values()),
                List.copyOf(holdings.all()),
                List.copyOf(steps),
                places.values().stream()
                        .sorted(Comparator.comparing(Order.Place::decision))
                        .toList(),
                List.copyOf(cuts.values()),
                refusals.entrySet().stream()
                        .map(count -> new ActuationSnapshot.Count(count.getKey(), count.getValue()))
                        .toList());
    }

    /** Learns which GPUs there are; a node of an unknown pool is never touched. */
    public void know(Node node) {
        forget(node.nodeId());
        var gpus = new ArrayList<GpuId>();
        for (Gpu gpu : node.gpus()) {
            gpus.add(gpu.gpuId());
            gpu.instances().forEach(instance -> gpus.add(instance.gpuId()));
        }
        if (node.pool() != Pool.UNKNOWN) {
            gpusByNode.put(node.nodeId(), gpus);
            gpus.forEach(gpu -> pools.put(gpu, node.pool()));
            node.gpus().stream().filter(Gpu::isCuttable).forEach(gpu -> cuttable.put(gpu.gpuId(), gpu));
        }
    }

    public void know(TrainingJob job) {
        jobs.put(job.job(), job);
    }

    public void know(InferenceService service) {
        services.put(service.service(), service);
    }

    public void forget(NodeId node) {
        Optional.ofNullable(gpusByNode.remove(node))
                .ifPresent(gpus -> gpus.forEach(gpu -> {
                    pools.remove(gpu);
                    cuttable.remove(gpu);
                }));
    }

    /** A node is gone with all that ran on it: nobody has its GPUs any more, and nothing more is reported of them. */
    public void lose(NodeId node) {
        List<GpuId> gone = gpusByNode.getOrDefault(node, List.of());
        withdraw(gone, step -> true);
        gone.forEach(holdings::remove);
        forget(node);
    }

    public void forget(JobId job) {
        jobs.remove(job);
    }

    public void forget(ServiceId service) {
        services.remove(service);
    }

    /** Who has which GPU, in the order of the GPUs. */
    public Collection<Holding> holdings() {
        return holdings.all();
    }

    /** Whether a tenant is a driver's, who tells what becomes of it. */
    public boolean isDriven(Tenant tenant) {
        return places.containsKey(tenant);
    }

    /** How often something was refused, by cause. */
    public Map<Refusal, Long> refusals() {
        return new EnumMap<>(refusals);
    }

    /** The last decision of a domain that it has seen. */
    public Optional<DecisionId> latest(DomainId domain) {
        return Optional.ofNullable(latest.get(domain));
    }

    /** Up to when it has done what was due. */
    public Instant clock() {
        return clock;
    }

    /** When it next has something to do by itself. */
    public Optional<Instant> nextEventAt() {
        Optional<Instant> step =
                steps.isEmpty() ? Optional.empty() : Optional.of(steps.first().due());
        Optional<Instant> lease = holdings.nextLeaseEnd();
        if (step.isEmpty() || lease.isEmpty()) {
            return step.or(() -> lease);
        }
        return step.get().isAfter(lease.get()) ? lease : step;
    }

    /**
     * Takes a decision up, or refuses it.
     *
     * @param now when it was learned; what was due until then is reported first, save that a lease that ends this very
     *     moment may still be renewed
     */
    public List<ActuationReport> take(Decision decision, Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        Optional<Refusal> fenced = fence(decision);
        if (fenced.isPresent()) {
            refuse(decision, fenced.get(), decision.action().gpus(), fencedText(decision, fenced.get()), reports);
            return reports;
        }
        decision.action().match(new Taking(decision, reports));
        carryOn(now, false, reports);
        return reports;
    }

    /** Does, and reports, everything that is due by now, each with its own time. */
    public List<ActuationReport> advance(Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, true, reports);
        return reports;
    }

    /** What drivers are to do, since this was last asked. */
    public List<Order> orders() {
        List<Order> due = List.copyOf(orders);
        orders.clear();
        return due;
    }

    /** All that drivers are to bring about or to keep, to be given again after a restart. */
    public List<Order> standingOrders() {
        List<Order> standing = new ArrayList<>();
        places.values().stream()
                .sorted(Comparator.comparing(Order.Place::decision))
                .forEach(standing::add);
        standing.addAll(cuts.values());
        for (Step step : steps) {
            if (step.driven() && step.kills()) {
                standing.add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
            }
        }
        return standing;
    }

    /** What a driver tells; returns what there is to report of it. */
    public List<ActuationReport> done(Deed deed, Instant now) {
        var reports = new ArrayList<ActuationReport>();
        carryOn(now, false, reports);
        if (deed instanceof Deed.Left left) {
            left(left, reports);
        } else if (deed instanceof Deed.Came came) {
            came(came, reports);
        } else if (deed instanceof Deed.Settled settled) {
            settled(settled, reports);
        } else if (deed instanceof Deed.Failed failed) {
            failed(failed, reports);
        } else if (deed instanceof Deed.Cut cut) {
            cut(cut, reports);
        }
        return reports;
    }

    private void left(Deed.Left left, List<ActuationReport> reports) {
        var rest = new TreeSet<>(holdings.of(left.tenant()));
        rest.retainAll(Set.copyOf(left.units()));
        for (Step step : driven(left.tenant(), Step::ends)) {
            List<GpuId> gone = step.gpus().stream().filter(rest::contains).toList();
            if (gone.isEmpty()) {
                continue;
            }
            steps.remove(step);
            List<GpuId> still =
                    step.gpus().stream().filter(gpu -> !gone.contains(gpu)).toList();
            if (!still.isEmpty()) {
                steps.add(step.of(still));
            }
            rest.removeAll(gone);
            boolean forced = left.forced() || step.kind() == Step.Kind.FORCE;
            Step.Kind ended = step.binds() ? Step.Kind.FAIL : forced ? Step.Kind.FORCE : Step.Kind.RELEASE;
            String reason = left.reason().isEmpty() ? step.reason() : join(step.reason(), left.reason());
            complete(step.of(gone).ended(ended, clock, reason), reports);
        }
        if (!rest.isEmpty() && isDriven(left.tenant())) {
            leftUnasked(left, List.copyOf(rest), reports);
        }
        displace(left.tenant(), left.units());
    }

    private void leftUnasked(Deed.Left left, List<GpuId> units, List<ActuationReport> reports) {
        DecisionId by = anyDecision(left.tenant());
        units.forEach(holdings::remove);
        reports.add(new ActuationReport(
                by.domain(),
                by,
                actuator,
                clock,
                left.forced() ? Outcome.FORCED : Outcome.RELEASED,
                units,
                Optional.of(left.tenant()),
                Timings.NONE,
                join("it left by itself", left.reason())));
    }

    /** The last one about a tenant; where none is known, the last of all. */
    private DecisionId anyDecision(Tenant tenant) {
        return Optional.ofNullable(places.get(tenant))
                .map(Order.Place::decision)
                .or(() -> latest.values().stream().max(Comparator.naturalOrder()))
                .orElseThrow();
    }

    private void came(Deed.Came came, List<ActuationReport> reports) {
        List<GpuId> strays = came.units().stream()
                .filter(unit -> !holdings.of(came.tenant()).contains(unit))
                .toList();
        if (!strays.isEmpty()) {
            orders.add(new Order.Force(anyDecision(came.tenant()), came.tenant(), strays));
        }
        for (Step step : driven(came.tenant(), other -> other.kind() == Step.Kind.BIND)) {
            List<GpuId> here =
                    step.gpus().stream().filter(came.units()::contains).toList();
            if (here.isEmpty()) {
                continue;
            }
            steps.remove(step);
            List<GpuId> still =
                    step.gpus().stream().filter(gpu -> !here.contains(gpu)).toList();
            if (!still.isEmpty()) {
                steps.add(step.of(still));
            }
            complete(step.of(here).ended(Step.Kind.BIND, clock, step.reason()), reports);
        }
    }

    private void settled(Deed.Settled settled, List<ActuationReport> reports) {
        for (Step step : driven(settled.tenant(), other -> other.kind() == Step.Kind.APPLY)) {
            int order = step.decision().compareTo(settled.decision());
            if (step.decision().domain().equals(settled.decision().domain()) && order <= 0) {
                steps.remove(step);
                String reason = order < 0 ? join(step.reason(), "superseded by " + settled.decision()) : step.reason();
                complete(
                        step.ended(Step.Kind.APPLY, clock, reason)
                                .pausing(order == 0 ? settled.pause() : Optional.empty()),
                        reports);
            }
        }
    }

    /** What it was to gain is nobody's; what it has, it keeps. */
    private void failed(Deed.Failed failed, List<ActuationReport> reports) {
        for (Step step : driven(
                failed.tenant(),
                other -> (other.binds() || other.kind() == Step.Kind.APPLY)
                        && other.decision().equals(failed.decision()))) {
            steps.remove(step);
            if (step.binds()) {
                complete(step.ended(Step.Kind.FAIL, clock, failed.reason()), reports);
                displace(failed.tenant(), step.gpus());
            } else {
                reports.add(new ActuationReport(
                        step.decision().domain(),
                        step.decision(),
                        actuator,
                        clock,
                        Outcome.FAILED,
                        List.of(),
                        step.tenant(),
                        Timings.NONE,
                        failed.reason()));
            }
        }
    }

    private void cut(Deed.Cut cut, List<ActuationReport> reports) {
        for (Step step : List.copyOf(steps)) {
            boolean meant = step.driven()
                    && step.kind() == Step.Kind.RECUT
                    && step.decision().equals(cut.decision())
                    && step.gpus().contains(cut.gpu());
            if (meant) {
                steps.remove(step);
                cuts.remove(cut.gpu());
                complete(step.ended(cut.done() ? Step.Kind.RECUT : Step.Kind.NOT_CUT, clock, cut.reason()), reports);
            }
        }
    }

    private List<Step> driven(Tenant tenant, java.util.function.Predicate<Step> which) {
        return steps.stream()
                .filter(step -> step.driven()
                        && which.test(step)
                        && step.tenant().filter(tenant::equals).isPresent())
                .toList();
    }

    /** A tenant is not to be started there again, unless it is decided anew. */
    private void displace(Tenant tenant, Collection<GpuId> units) {
        Optional.ofNullable(places.get(tenant))
                .filter(place -> place.units().stream().anyMatch(units::contains))
                .ifPresent(place -> order(place.without(units)));
        if (holdings.of(tenant).isEmpty()) {
            places.remove(tenant);
        }
    }

    private void order(Order.Place place) {
        orders.removeIf(older ->
                older instanceof Order.Place earlier && earlier.tenant().equals(place.tenant()));
        places.put(place.tenant(), place);
        orders.add(place);
    }

    private void carryOn(Instant now, boolean leasesToo, List<ActuationReport> reports) {
        Instant upTo = laterOf(now, clock);
        while (true) {
            Optional<Instant> lease =
                    holdings.nextLeaseEnd().filter(end -> leasesToo ? !end.isAfter(upTo) : end.isBefore(upTo));
            if (!steps.isEmpty() && !steps.first().due().isAfter(lease.orElse(upTo))) {
                Step step = steps.first();
                steps.remove(step);
                clock = laterOf(clock, step.due());
                if (step.driven()) {
                    overdue(step, reports);
                } else {
                    complete(step, reports);
                }
            } else if (lease.isPresent()) {
                clock = laterOf(clock, lease.get());
                endLeases(lease.get());
            } else {
                clock = upTo;
                return;
            }
        }
    }

    /** A driver has not done in time what it was ordered to. */
    private void overdue(Step step, List<ActuationReport> reports) {
        switch (step.kind()) {
            case RELEASE -> kill(step, Step.Kind.FORCE, "still there at the deadline");
            case BIND -> {
                displace(step.tenant().orElseThrow(), step.gpus());
                kill(step, Step.Kind.FAIL, "did not come up until " + clock);
            }
            case FORCE, FAIL -> kill(step, step.kind(), "");
            case RECUT -> {
                step.gpus().forEach(cuts::remove);
                complete(step.ended(Step.Kind.NOT_CUT, clock, "not cut until " + clock), reports);
            }
            case APPLY -> complete(step.ended(Step.Kind.GIVE_UP, clock, "not in force until " + clock), reports);
            case NOT_CUT, GIVE_UP -> throw new IllegalStateException(step + " is not waited for");
        }
    }

    private void kill(Step step, Step.Kind kind, String why) {
        orders.add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
        steps.add(step.until(clock.plus(KILL_AGAIN), kind, why.isEmpty() ? step.reason() : join(step.reason(), why)));
    }

    private void complete(Step step, List<ActuationReport> reports) {
        Outcome outcome = switch (step.kind()) {
            case RELEASE -> Outcome.RELEASED;
            case FORCE -> Outcome.FORCED;
            case BIND -> Outcome.BOUND;
            case FAIL, NOT_CUT -> Outcome.FAILED;
            case APPLY, RECUT -> Outcome.APPLIED;
            case GIVE_UP -> Outcome.TIMED_OUT;
        };
        switch (step.kind()) {
            case RELEASE, FORCE, FAIL -> step.gpus().forEach(holdings::remove);
            case BIND ->
                step.gpus()
                        .forEach(gpu ->
                                holdings.of(gpu).ifPresent(holding -> holdings.put(holding.in(Holding.Phase.BOUND))));
            case APPLY, RECUT, NOT_CUT, GIVE_UP -> {}
        }
        if (step.kind() == Step.Kind.FAIL) {
            withdraw(step.gpus(), other -> other.kind() == Step.Kind.APPLY);
        }
        if (step.reported()) {
            reports.add(new ActuationReport(
                    step.decision().domain(),
                    step.decision(),
                    actuator,
                    clock,
                    outcome,
                    step.gpus(),
                    step.tenant(),
                    step.timings(),
                    step.reason()));
        }
    }

    private void endLeases(Instant until) {
        record Loan(Tenant tenant, DecisionId granted) {}
        var ending = new HashMap<Loan, List<GpuId>>();
        var order = new ArrayList<Loan>();
        for (Holding holding : holdings.endingAt(until)) {
            var loan = new Loan(
                    holding.tenant(), holding.loan().map(Holding.Loan::granted).orElseThrow());
            if (!ending.containsKey(loan)) {
                order.add(loan);
            }
            ending.computeIfAbsent(loan, any -> new ArrayList<>()).add(holding.gpu());
        }
        for (Loan loan : order) {
            List<GpuId> gpus = ending.getOrDefault(loan, List.of());
            Optional<TrainingJob> job = jobOf(loan.tenant);
            int before = active(loan.tenant).size();
            Course course = delays.course(new Undertaking(
                    loan.granted,
                    loan.tenant,
                    gpus,
                    List.of(),
                    before,
                    before - gpus.size(),
                    job.map(TrainingJob::elastic).orElse(false) ? Mechanism.AFE : Mechanism.RESTART,
                    0,
                    Duration.ZERO,
                    job,
                    Optional.empty()));
            Instant by = clock.plus(leaseNotice);
            leave(loan.granted, loan.tenant, gpus, course, by, "lease ran out at " + until);
            if (course.isDriven()) {
                order(new Order.Place(
                        laterDecision(loan.tenant, loan.granted),
                        loan.tenant,
                        List.copyOf(active(loan.tenant)),
                        gpus,
                        Optional.ofNullable(places.get(loan.tenant)).flatMap(Order.Place::allocation),
                        by));
            }
        }
    }

    /** The decision that its tenant is under by now. */
    private DecisionId laterDecision(Tenant tenant, DecisionId granted) {
        return Optional.ofNullable(places.get(tenant))
                .map(Order.Place::decision)
                .filter(last -> last.compareTo(granted) > 0)
                .orElse(granted);
    }

    /** The only place where a decision is let in. */
    private Optional<Refusal> fence(Decision decision) {
        DecisionId id = decision.id();
        Optional<DecisionId> last = latest(id.domain());
        if (last.isPresent() && id.epoch() < last.get().epoch()) {
            return Optional.of(Refusal.OLD_EPOCH);
        }
        if (last.isPresent() && id.compareTo(last.get()) <= 0) {
            return Optional.of(Refusal.SEEN_BEFORE);
        }
        latest.put(id.domain(), id);
        return decision.advisory() ? Optional.of(Refusal.ADVISORY) : Optional.empty();
    }

    private String fencedText(Decision decision, Refusal refusal) {
        String last = latest(decision.id().domain()).map(DecisionId::toString).orElse("");
        return switch (refusal) {
            case OLD_EPOCH ->
                "epoch %d is over: %s has been decided since"
                        .formatted(decision.id().epoch(), last);
            case SEEN_BEFORE -> "seen before: the last decision of this epoch was " + last;
            default -> "advisory: decisions are advice until advisory mode is switched off, or this one is approved";
        };
    }

    private void refuse(
            Decision decision, Refusal refusal, Collection<GpuId> gpus, String reason, List<ActuationReport> reports) {
        refusals.merge(refusal, 1L, Long::sum);
        reports.add(report(decision, Outcome.REJECTED, gpus, tenantOf(decision.action()), Timings.NONE, reason));
    }

    private ActuationReport report(
            Decision decision,
            Outcome outcome,
            Collection<GpuId> gpus,
            Optional<Tenant> tenant,
            Timings timings,
            String reason) {
        return new ActuationReport(
                decision.id().domain(),
                decision.id(),
                actuator,
                clock,
                outcome,
                gpus.stream().sorted().toList(),
                tenant,
                timings,
                reason);
    }

    /** Makes a tenant leave GPUs by {@code by}; returns when it will have left them all. */
    private Instant leave(
            DecisionId decision, Tenant tenant, Collection<GpuId> gpus, Course course, Instant by, String reason) {
        if (gpus.isEmpty()) {
            return clock;
        }
        withdraw(gpus, step -> step.binds() || step.kind() == Step.Kind.APPLY);
        for (GpuId gpu : gpus) {
            holdings.of(gpu).ifPresent(holding -> holdings.put(holding.in(Holding.Phase.RELEASING)));
        }
        Instant deadline = laterOf(clock, by);
        if (course.isDriven()) {
            await(deadline, Step.Kind.RELEASE, decision, tenant, gpus, reason);
            return deadline;
        }
        Instant left = clock.plus(course.release());
        boolean forced = course.trouble() == Course.Trouble.STUCK_RELEASE || left.isAfter(deadline);
        Instant due = forced ? deadline : left;
        plan(
                due,
                forced ? Step.Kind.FORCE : Step.Kind.RELEASE,
                decision,
                Optional.of(tenant),
                gpus,
                timings(Duration.between(clock, due), Optional.empty(), Optional.empty()),
                course.trouble() != Course.Trouble.UNREPORTED,
                forced ? join(reason, "still there at the deadline") : reason);
        return due;
    }

    /** A release that is under way already is owed under a newer decision from now on, and by its deadline. */
    private void hasten(Decision decision, Collection<GpuId> gpus, Instant by) {
        for (Step step : List.copyOf(steps)) {
            List<GpuId> moved = step.gpus().stream().filter(gpus::contains).toList();
            if (!step.frees() || moved.isEmpty()) {
                continue;
            }
            withdraw(moved, step::equals);
            Instant deadline = laterOf(clock, by);
            if (step.driven()) {
                Instant due = step.due().isAfter(deadline) ? deadline : step.due();
                steps.add(step.of(moved)
                        .owedBy(decision.id(), due, join(step.reason(), "first asked for by " + step.decision())));
                continue;
            }
            boolean cut = step.due().isAfter(deadline);
            plan(
                    cut ? deadline : step.due(),
                    cut ? Step.Kind.FORCE : step.kind(),
                    decision.id(),
                    step.tenant(),
                    moved,
                    step.timings(),
                    step.reported(),
                    join(step.reason(), "first asked for by " + step.decision()));
        }
    }

    private void plan(
            Instant due,
            Step.Kind kind,
            DecisionId decision,
            Optional<Tenant> tenant,
            Collection<GpuId> gpus,
            Timings timings,
            boolean reported,
            String reason) {
        steps.add(new Step(
                due, clock, nextOrder++, kind, decision, tenant, List.copyOf(gpus), timings, reported, false, reason));
    }

    /** What a driver is to do, at the latest by then. */
    private void await(
            Instant due, Step.Kind kind, DecisionId decision, Tenant tenant, Collection<GpuId> gpus, String reason) {
        steps.add(new Step(
                due,
                clock,
                nextOrder++,
                kind,
                decision,
                Optional.of(tenant),
                List.copyOf(gpus),
                Timings.NONE,
                true,
                true,
                reason));
    }

    /** Takes GPUs out of steps to come; a step without any is dropped, save that what is applied is still said. */
    private void withdraw(Collection<GpuId> gpus, java.util.function.Predicate<Step> which) {
        var gone = Set.copyOf(gpus);
        for (Step step : List.copyOf(steps)) {
            if (!which.test(step) || step.gpus().stream().noneMatch(gone::contains)) {
                continue;
            }
            List<GpuId> rest =
                    step.gpus().stream().filter(gpu -> !gone.contains(gpu)).toList();
            steps.remove(step);
            if (step.kind() == Step.Kind.APPLY) {
                steps.add(step.of(rest)
                        .because(join(
                                step.reason(),
                                "without "
                                        + names(step.gpus().stream()
                                                .filter(gone::contains)
                                                .toList()))));
            } else if (!rest.isEmpty()) {
                steps.add(step.of(rest));
            }
        }
    }

    private SortedSet<GpuId> active(Tenant tenant) {
        var active = new TreeSet<GpuId>();
        for (GpuId gpu : holdings.of(tenant)) {
            if (phaseOf(gpu) != Holding.Phase.RELEASING) {
                active.add(gpu);
            }
        }
        return active;
    }

    private Holding.Phase phaseOf(GpuId gpu) {
        return holdings.of(gpu).map(Holding::phase).orElseThrow();
    }

    private Optional<TrainingJob> jobOf(Tenant tenant) {
        return tenant instanceof Tenant.Job job ? Optional.ofNullable(jobs.get(job.job())) : Optional.empty();
    }

    private Optional<InferenceService> serviceOf(Tenant tenant) {
        return tenant instanceof Tenant.Service service
                ? Optional.ofNullable(services.get(service.service()))
                : Optional.empty();
    }

    private static Optional<Tenant> tenantOf(Action action) {
        if (action instanceof Action.Lend lend) {
            return Optional.of(new Tenant.Job(lend.job()));
        }
        if (action instanceof Action.Reclaim reclaim) {
            return Optional.of(new Tenant.Job(reclaim.job()));
        }
        if (action instanceof Action.Resize resize) {
            return Optional.of(new Tenant.Job(resize.job()));
        }
        if (action instanceof Action.Serve serve) {
            return Optional.of(new Tenant.Service(serve.service()));
        }
        if (action instanceof Action.Idle idle) {
            return Optional.of(new Tenant.Service(idle.service()));
        }
        if (action instanceof Action.Batching batching) {
            return Optional.of(new Tenant.Service(batching.service()));
        }
        return Optional.empty();
    }

    private static Timings timings(Duration release, Optional<Duration> bind, Optional<Duration> ready) {
        return new Timings(Optional.empty(), Optional.of(release), bind, ready);
    }

    private static String join(String reason, String more) {
        return reason.isEmpty() ? more : reason + "; " + more;
    }

    private static String names(Collection<GpuId> gpus) {
        return String.join(", ", gpus.stream().map(GpuId::value).toList());
    }

    private static Instant laterOf(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** Takes up one decision that was let in. */
    private final class Taking implements Action.Cases<Taking> {
        private final Decision decision;
        private final List<ActuationReport> reports;

        Taking(Decision decision, List<ActuationReport> reports) {
            this.decision = decision;
            this.reports = reports;
        }

        @Override
        public Taking lend(Action.Lend lend) {
            if (!lend.until().isAfter(clock)) {
                return refused(
                        Refusal.LEASE_OVER,
                        lend.gpus(),
                        "the lease until %s is over at %s".formatted(lend.until(), clock));
            }
            return change(
                    lend.job(), lend.gpus(), lend.allocation(), decision.deadline(), true, Optional.of(lend.until()));
        }

        @Override
        public Taking reclaim(Action.Reclaim reclaim) {
            return change(reclaim.job(), reclaim.gpus(), reclaim.allocation(), reclaim.by(), true, Optional.empty());
        }

        @Override
        public Taking resize(Action.Resize resize) {
            return change(
                    resize.job(), resize.gpus(), resize.allocation(), decision.deadline(), false, Optional.empty());
        }

        @Override
        public Taking serve(Action.Serve serve) {
            var service = new Tenant.Service(serve.service());
            if (serve.warm()) {
                for (GpuId gpu : serve.gpus()) {
                    boolean warm = holdings.of(gpu)
                            .filter(holding -> holding.tenant().equals(service))
                            .filter(holding -> holding.phase() == Holding.Phase.BOUND)
                            .isPresent();
                    if (!warm) {
                        return refused(
                                Refusal.GPU_NOT_HELD,
                                serve.gpus(),
                                "%s has no warm replica of %s: %s".formatted(gpu, service, state(gpu)));
                    }
                }
                return carryOut(service, List.of(), active(service), List.of(), decision.deadline(), NO_JOB, "");
            }
            for (GpuId gpu : serve.gpus()) {
                Optional<Refusal> taken = whyNotFree(gpu);
                if (taken.isPresent()) {
                    return refused(taken.get(), serve.gpus(), "%s cannot be bound: %s".formatted(gpu, state(gpu)));
                }
            }
            return carryOut(service, List.of(), active(service), serve.gpus(), decision.deadline(), NO_JOB, "");
        }

        @Override
        public Taking idle(Action.Idle idle) {
            var service = new Tenant.Service(idle.service());
            SortedSet<GpuId> kept = active(service);
            kept.removeAll(Set.copyOf(idle.gpus()));
            return carryOut(service, idle.gpus(), kept, List.of(), idle.by(), NO_JOB, "");
        }

        @Override
        public Taking batching(Action.Batching batching) {
            Course course = delays.batching();
            if (course.equals(Course.NONE)) {
                return refused(Refusal.UNSUPPORTED, batching.gpus(), "no driver here changes how services batch");
            }
            if (!course.isDriven()) {
                return inForce(batching.gpus());
            }
            Tenant service = new Tenant.Service(batching.service());
            reports.add(report(decision, Outcome.ACCEPTED, batching.gpus(), Optional.of(service), Timings.NONE, ""));
            await(decision.deadline().plus(PATIENCE), Step.Kind.APPLY, decision.id(), service, List.of(), "");
            orders.add(new Order.Batch(decision.id(), batching));
            return this;
        }

        @Override
        public Taking repartition(Action.Repartition repartition) {
            boolean isPossible = repartition.gpus().stream().allMatch(gpu -> mayBeCut(gpu, repartition.profiles()));
            if (!isPossible) {
                return refused(
                        Refusal.UNSUPPORTED,
                        repartition.gpus(),
                        "a GPU whose MIG mode may not be switched here enters or leaves it by its node's own tools only");
            }
            for (GpuId gpu : repartition.gpus()) {
                for (GpuId unit : going(gpu, repartition.profiles())) {
                    Optional<Refusal> taken = whyNotFree(unit);
                    if (taken.isPresent()) {
                        return refused(
                                taken.get(), repartition.gpus(), "%s is in the way: %s".formatted(unit, state(unit)));
                    }
                }
            }
            if (delays.recut(0, 0, false).equals(Course.NONE)) {
                return refused(Refusal.UNSUPPORTED, repartition.gpus(), "no driver here cuts GPUs");
            }
            reports.add(report(decision, Outcome.ACCEPTED, repartition.gpus(), Optional.empty(), Timings.NONE, ""));
            repartition.gpus().forEach(gpu -> recut(gpu, repartition.profiles()));
            return this;
        }

        /** Whether its MIG mode is the one that a cut needs, or may be switched. */
        private boolean mayBeCut(GpuId id, List<String> profiles) {
            return Optional.ofNullable(cuttable.get(id))
                    .filter(gpu -> gpu.migSwitchable() || gpu.migEnabled() == !profiles.isEmpty())
                    .isPresent();
        }

        /** The GPU and its instances that a cut does not leave as they are. */
        private List<GpuId> going(GpuId gpu, List<String> profiles) {
            var going = new ArrayList<GpuId>(List.of(gpu));
            instances(gpu).stream()
                    .filter(instance -> !profiles.contains(place(instance)))
                    .forEach(instance -> going.add(instance.gpuId()));
            return going;
        }

        private List<GpuInstance> instances(GpuId gpu) {
            return Optional.ofNullable(cuttable.get(gpu)).map(Gpu::instances).orElse(List.of());
        }

        private String place(GpuInstance instance) {
            return instance.profile() + "@" + instance.start();
        }

        private void recut(GpuId gpu, List<String> profiles) {
            List<GpuId> going = going(gpu, profiles);
            int gone = going.size() - 1;
            int kept = instances(gpu).size() - gone;
            boolean switches = Optional.ofNullable(cuttable.get(gpu))
                    .filter(known -> known.migEnabled() == profiles.isEmpty())
                    .isPresent();
            Course course = delays.recut(gone, profiles.size() - kept, switches);
            if (course.isDriven()) {
                steps.add(new Step(
                        laterOf(clock, decision.deadline()),
                        clock,
                        nextOrder++,
                        Step.Kind.RECUT,
                        decision.id(),
                        Optional.empty(),
                        going,
                        Timings.NONE,
                        true,
                        true,
                        ""));
                Order.Cut cut = new Order.Cut(decision.id(), gpu, profiles);
                cuts.put(gpu, cut);
                orders.add(cut);
                return;
            }
            Duration takes = course.ready();
            plan(
                    clock.plus(takes),
                    Step.Kind.RECUT,
                    decision.id(),
                    Optional.empty(),
                    going,
                    timings(Duration.ZERO, Optional.empty(), Optional.of(takes)),
                    true,
                    "");
        }

        @Override
        public Taking renew(Action.Renew renew) {
            var renewed = new ArrayList<GpuId>();
            var ended = new ArrayList<GpuId>();
            for (GpuId gpu : renew.gpus()) {
                Optional<Holding> loan = holdings.of(gpu)
                        .filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                        .filter(holding -> holding.loan().isPresent());
                loan.ifPresent(holding -> holding.loan()
                        .ifPresent(old -> holdings.put(
                                holding.onLoan(new Holding.Loan(old.granted(), laterOf(old.until(), renew.until()))))));
                (loan.isPresent() ? renewed : ended).add(gpu);
            }
            if (!renewed.isEmpty()) {
                inForce(renewed);
            }
            if (!ended.isEmpty()) {
                refused(Refusal.NOT_ON_LOAN, ended, "no loan to renew: " + state(ended.get(0)));
            }
            return this;
        }

        @Override
        public Taking hold(Action.Hold hold) {
            return this;
        }

        private Taking inForce(List<GpuId> gpus) {
            Optional<Tenant> tenant = tenantOf(decision.action());
            reports.add(report(decision, Outcome.ACCEPTED, gpus, tenant, Timings.NONE, ""));
            reports.add(report(decision, Outcome.APPLIED, gpus, tenant, Timings.NONE, ""));
            return this;
        }

        private Taking refused(Refusal refusal, Collection<GpuId> gpus, String reason) {
            refuse(decision, refusal, gpus, reason, reports);
            return this;
        }

        /**
         * @param fillsUp whether training GPUs that the allocation names, but the decision does not, are bound as well
         * @param lease end of the lease of the GPUs named, where they are lent
         */
        private Taking change(
                JobId id,
                List<GpuId> named,
                Allocation allocation,
                Instant by,
                boolean fillsUp,
                Optional<Instant> lease) {
            var job = new Tenant.Job(id);
            SortedSet<GpuId> active = active(job);
            var gained = new ArrayList<GpuId>();
            var lost = new ArrayList<GpuId>();
            for (GpuId gpu : allocation.gpus()) {
                if (active.contains(gpu)) {
                    continue;
                }
                boolean training = pools.get(gpu) == Pool.TRAINING;
                Optional<Refusal> taken = whyNotFree(gpu);
                if (!named.contains(gpu)) {
                    (fillsUp && training && taken.isEmpty() ? gained : lost).add(gpu);
                    continue;
                }
                if (taken.isPresent()) {
                    return refused(taken.get(), named, "%s cannot be bound: %s".formatted(gpu, state(gpu)));
                }
                if (lease.isEmpty() && !training) {
                    return refused(
                            Refusal.NOT_ON_LOAN,
                            named,
                            "%s is an inference GPU: a job gets it only on loan".formatted(gpu));
                }
                gained.add(gpu);
            }
            var kept = new TreeSet<>(active);
            kept.retainAll(Set.copyOf(allocation.gpus()));
            if (!lost.isEmpty()) {
                refusals.merge(Refusal.NOT_ON_LOAN, 1L, Long::sum);
            }
            carryOut(
                    job,
                    named,
                    kept,
                    gained,
                    by,
                    allocation,
                    lost.isEmpty() ? "" : "goes on without %s: %s".formatted(names(lost), state(lost.get(0))));
            lease.ifPresent(until -> {
                for (GpuId gpu : named) {
                    holdings.of(gpu)
                            .filter(holding -> holding.tenant().equals(job))
                            .filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                            .ifPresent(holding -> holdings.put(holding.onLoan(new Holding.Loan(decision.id(), until))));
                }
            });
            return this;
        }

        /**
         * Makes a tenant leave what it has and is not to keep, and come to what it gains.
         *
         * @param named the GPUs whose release is asked for by name
         */
        private Taking carryOut(
                Tenant tenant,
                List<GpuId> named,
                SortedSet<GpuId> kept,
                List<GpuId> gained,
                Instant by,
                Allocation allocation,
                String remark) {
            SortedSet<GpuId> active = active(tenant);
            var leaving = new TreeSet<>(active);
            leaving.removeAll(kept);
            var underWay = new ArrayList<GpuId>();
            var nobodys = new ArrayList<GpuId>();
            var foreign = new ArrayList<GpuId>();
            for (GpuId gpu : named) {
                if (kept.contains(gpu) || leaving.contains(gpu) || gained.contains(gpu)) {
                    continue;
                }
                Optional<Holding> holding = holdings.of(gpu);
                if (holding.isEmpty()) {
                    nobodys.add(gpu);
                } else if (holding.get().tenant().equals(tenant)) {
                    underWay.add(gpu);
                } else {
                    foreign.add(gpu);
                }
            }
            var changing = new TreeSet<>(leaving);
            changing.addAll(gained);
            changing.addAll(underWay);
            changing.addAll(nobodys);
            if (changing.isEmpty() && !foreign.isEmpty()) {
                return refused(
                        Refusal.GPU_NOT_HELD,
                        foreign,
                        "%s is not %s's: %s".formatted(foreign.get(0), tenant, state(foreign.get(0))));
            }
            boolean isJob = tenant instanceof Tenant.Job;
            List<Step> open = isJob ? pending(tenant, Step.Kind.APPLY) : List.of();
            Duration remaining = open.stream()
                    .map(step -> Duration.between(clock, step.due()))
                    .max(Duration::compareTo)
                    .orElse(Duration.ZERO);
            Course course = delays.course(new Undertaking(
                    decision.id(),
                    tenant,
                    List.copyOf(leaving),
                    gained,
                    active.size(),
                    kept.size() + gained.size(),
                    allocation.mechanism(),
                    allocation.localBatch(),
                    remaining,
                    jobOf(tenant),
                    serviceOf(tenant)));
            if (course.trouble() == Course.Trouble.NO_DRIVER) {
                return refused(Refusal.UNSUPPORTED, named, "no driver here runs " + tenant);
            }
            boolean warm = decision.action() instanceof Action.Serve serve && serve.warm();
            Collection<GpuId> about = warm ? decision.action().gpus() : changing;
            reports.add(report(decision, Outcome.ACCEPTED, about, Optional.of(tenant), Timings.NONE, remark));
            if (!foreign.isEmpty()) {
                refused(
                        Refusal.GPU_NOT_HELD,
                        foreign,
                        "%s is not %s's: %s".formatted(foreign.get(0), tenant, state(foreign.get(0))));
            }
            if (!nobodys.isEmpty()) {
                reports.add(report(
                        decision,
                        Outcome.RELEASED,
                        nobodys,
                        Optional.of(tenant),
                        timings(Duration.ZERO, Optional.empty(), Optional.empty()),
                        "nothing ran there any more"));
            }
            hasten(decision, underWay, by);

            if (course.isDriven()) {
                return driven(tenant, leaving, gained, isJob ? Optional.of(allocation) : Optional.empty(), by, remark);
            }
            boolean reported = course.trouble() != Course.Trouble.UNREPORTED;

            Instant left = leave(decision.id(), tenant, leaving, course, by, "");
            Instant last = left;
            boolean fails = !gained.isEmpty() && course.trouble() == Course.Trouble.BIND_FAILS;
            if (!gained.isEmpty()) {
                for (GpuId gpu : gained) {
                    holdings.put(new Holding(gpu, tenant, Holding.Phase.BINDING, Optional.empty()));
                }
                Instant bound = left.plus(course.bind());
                last = laterOf(last, bound);
                plan(
                        bound,
                        fails ? Step.Kind.FAIL : Step.Kind.BIND,
                        decision.id(),
                        Optional.of(tenant),
                        gained,
                        timings(Duration.between(clock, left), Optional.of(course.bind()), Optional.empty()),
                        reported,
                        fails ? "did not come up" : "");
            }
            if (isJob) {
                for (Step bind : pending(tenant, Step.Kind.BIND)) {
                    last = laterOf(last, bind.due());
                }
            }
            Instant applied = laterOf(last, clock.plus(course.ready()));
            for (Step older : open) {
                steps.remove(older);
                plan(
                        fails ? last : applied,
                        Step.Kind.APPLY,
                        older.decision(),
                        Optional.of(tenant),
                        List.of(),
                        older.timings(),
                        older.reported(),
                        "superseded by " + decision.id());
            }
            if (!fails) {
                var after = new TreeSet<>(kept);
                after.addAll(gained);
                plan(
                        applied,
                        Step.Kind.APPLY,
                        decision.id(),
                        Optional.of(tenant),
                        isJob ? after : about,
                        timings(
                                Duration.between(clock, left),
                                Optional.of(Duration.between(left, last)),
                                Optional.of(Duration.between(last, applied))),
                        reported,
                        remark);
            }
            return this;
        }

        /** Orders from a driver what has been taken up. */
        private Taking driven(
                Tenant tenant,
                SortedSet<GpuId> leaving,
                List<GpuId> gained,
                Optional<Allocation> allocation,
                Instant by,
                String remark) {
            leave(decision.id(), tenant, leaving, Course.DRIVEN, by, "");
            for (GpuId gpu : gained) {
                holdings.put(new Holding(gpu, tenant, Holding.Phase.BINDING, Optional.empty()));
            }
            Instant deadline = laterOf(clock, decision.deadline());
            if (!gained.isEmpty()) {
                await(deadline, Step.Kind.BIND, decision.id(), tenant, gained, "");
            }
            SortedSet<GpuId> after = active(tenant);
            await(deadline.plus(PATIENCE), Step.Kind.APPLY, decision.id(), tenant, after, remark);
            var out = new TreeSet<>(holdings.of(tenant));
            out.removeAll(after);
            order(new Order.Place(decision.id(), tenant, List.copyOf(after), List.copyOf(out), allocation, by));
            return this;
        }

        private Optional<Refusal> whyNotFree(GpuId gpu) {
            if (!pools.containsKey(gpu)) {
                return Optional.of(Refusal.GPU_UNKNOWN);
            }
            return holdings.of(gpu).isPresent() || isRecut(gpu) ? Optional.of(Refusal.GPU_HELD) : Optional.empty();
        }

        private boolean isRecut(GpuId gpu) {
            return steps.stream()
                    .anyMatch(step ->
                            step.kind() == Step.Kind.RECUT && step.gpus().contains(gpu));
        }

        private String state(GpuId gpu) {
            return holdings.of(gpu)
                    .map(holding -> switch (holding.phase()) {
                        case BINDING -> "it is being bound to " + holding.tenant();
                        case BOUND -> holding.tenant() + " has it, and its release has not been asked for";
                        case RELEASING -> holding.tenant() + " is still leaving it";
                    })
                    .orElseGet(() -> isRecut(gpu)
                            ? "it is being cut"
                            : pools.containsKey(gpu) ? "nobody has it" : "no node that is known has it");
        }

        private List<Step> pending(Tenant tenant, Step.Kind kind) {
            return steps.stream()
                    .filter(step -> step.kind() == kind
                            && step.tenant().filter(tenant::equals).isPresent())
                    .toList();
        }
    }

    /** For services, which have no allocation to speak of. */
    private static final Allocation NO_JOB = Allocation.suspended(Mechanism.UNKNOWN);
}
