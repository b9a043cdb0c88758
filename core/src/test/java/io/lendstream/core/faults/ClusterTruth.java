package io.lendstream.core.faults;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Judges a {@link MixedCluster} by what really runs on its units, not by the record. A unit counts for the tenant that
 * runs there if the scheduler knows it; that it knows it, or has taken the unit out of service, is a promise too.
 */
final class ClusterTruth {
    private static final double ROUNDING = 1e-6;
    private static final int ENOUGH = 5;
    /** The longest way of a report, and some. */
    private static final Duration UNREPORTED = Duration.ofMinutes(10);
    /** The notice, and all that a job may need to leave when it has to be forced. */
    private static final Duration LONGEST_CLAIM = Duration.ofMinutes(3);

    private final MixedWorld world;
    private final List<String> broken = new ArrayList<>();
    private final Map<GpuId, Since> since = new HashMap<>();
    /** The most that each quota's queue could use when it last got a unit. */
    private final Map<Account, Double> limits = new HashMap<>();

    private final Map<Tenant, Instant> ends = new HashMap<>();
    private final Map<DecisionId, Set<String>> applied = new HashMap<>();
    /** Jobs that could have a unit of a queue which has too much, and since when. */
    private final Map<JobId, Instant> asking = new HashMap<>();

    /** Since when a queue uses more in a quota than it could have at most. */
    private final Map<Account, Instant> excess = new HashMap<>();

    /** What was last decided to work together, by unit and by name. */
    private final Map<GpuId, Together> together = new HashMap<>();

    private final Map<ReplicaId, Together> byName = new HashMap<>();
    private Map<GpuId, Tenant> running = Map.of();
    private Instant now = Instant.MIN;
    private long looks;
    private int claims;

    /** The tenant that a unit runs, and the look by which it did. */
    private record Since(Tenant tenant, long look) {}

    /** A tenant in a place of units that are taken for each other. */
    private record Seat(String place, Tenant tenant) {}

    /** A quota of a queue. */
    private record Account(QueueId queue, Optional<KindId> kind) {}

    /** Units that a decision gives to a tenant together: for a replica, or for a gang. */
    private record Together(Tenant tenant, List<GpuId> units) {
        boolean isReplica() {
            return !tenant.isJob();
        }
    }

    ClusterTruth(MixedWorld world) {
        this.world = world;
    }

    int claims() {
        return claims;
    }

    List<String> broken() {
        return broken;
    }

    void broken(String promise, String how) {
        if (broken.size() < ENOUGH) {
            broken.add("%s: %s at %s".formatted(promise, how, now));
        }
    }

    /** What runs on all machines now. */
    void look(Map<GpuId, Tenant> all, Instant at) {
        now = at;
        looks++;
        running = new TreeMap<>(all);
        since.keySet().removeIf(unit -> !running.containsKey(unit));
        running.forEach((unit, tenant) -> since.merge(
                unit, new Since(tenant, looks), (old, next) -> old.tenant().equals(tenant) ? old : next));
    }

    /** A tenant ends by itself, or with its node: the scheduler may not know that for some time. */
    void ends(Tenant tenant) {
        ends.put(tenant, now);
    }

    void reported(String actuator, ActuationReport report) {
        if (report.outcome() == Outcome.APPLIED) {
            applied.computeIfAbsent(report.decision(), any -> new HashSet<>()).add(actuator);
        }
    }

    /**
     * Whether a scheduler that takes a change for settled may do so: all actuators that take part have reported it.
     *
     * @param actuators those with units of the change
     */
    void settled(JobId job, DecisionId decision, Set<String> actuators) {
        Set<String> open = new HashSet<>(actuators);
        open.removeAll(applied.getOrDefault(decision, Set.of()));
        if (!open.isEmpty()) {
            broken("half settled", "decision %s about %s counts as done without %s".formatted(decision, job, open));
        }
    }

    /** A decision gives a tenant units that it can use only together. */
    void decided(Decision decision, ClusterState after) {
        decision.action()
                .asServe()
                .filter(serve -> !serve.warm())
                .ifPresent(serve -> serve.replicas()
                        .forEach(replica -> together(
                                replica.replica(),
                                new Together(new Tenant.Service(serve.service()), replica.units()))));
        decision.action()
                .jobChange()
                .filter(change -> after.jobs()
                        .get(change.job())
                        .filter(job -> job.spec().shape().gang())
                        .isPresent())
                .ifPresent(change -> together(
                        ReplicaId.of(decision.id(), 0),
                        new Together(
                                new Tenant.Job(change.job()),
                                change.allocation().gpus().stream()
                                        .filter(unit -> isComing(after, unit, decision.id()))
                                        .toList())));
    }

    private static boolean isComing(ClusterState state, GpuId unit, DecisionId decision) {
        return state.gpus()
                .get(unit)
                .flatMap(known -> known.owner().asBinding())
                .filter(binding -> binding.decision().equals(decision))
                .isPresent();
    }

    private void together(ReplicaId name, Together units) {
        byName.put(name, units);
        units.units().forEach(unit -> together.put(unit, units));
    }

    /**
     * What tenants have begun to use: then all that it is to work with run. Names of units may have been exchanged since
     * the decision, so the units of a place are counted. While the tenant leaves a unit of the place, its controller may
     * have stopped any one there, and that is not known before it is reported.
     */
    private void checkTogether(ClusterState before, ClusterState after, Set<GpuId> begun) {
        Set<Tenant> tenants = new HashSet<>();
        Set<ReplicaId> whole = new TreeSet<>();
        for (GpuId id : begun) {
            GpuState unit = after.gpus().require(id);
            unit.owner().holder().ifPresent(tenants::add);
            unit.part().map(GroupPart::replica).ifPresent(whole::add);
        }
        whole.addAll(coming(before, tenants));
        whole.removeAll(coming(after, tenants));
        Map<Seat, Integer> runs = runs();
        Map<Seat, Integer> leaving = held(after, unit -> unit.owner().isReleasing());
        for (ReplicaId name : whole) {
            Optional.ofNullable(byName.get(name)).ifPresent(all -> checkTogether(name, all, runs, leaving));
        }
    }

    /** The replicas and gains of some tenants that have units on their way. */
    private static Set<ReplicaId> coming(ClusterState state, Set<Tenant> tenants) {
        Set<ReplicaId> coming = new HashSet<>();
        for (GpuState unit :
                tenants.isEmpty() ? List.<GpuState>of() : state.gpus().values()) {
            if (unit.owner().isBinding() && tenants.stream().anyMatch(unit::isHeldBy)) {
                unit.part().map(GroupPart::replica).ifPresent(coming::add);
            }
        }
        return coming;
    }

    private void checkTogether(ReplicaId name, Together all, Map<Seat, Integer> runs, Map<Seat, Integer> leaving) {
        Map<Seat, Integer> asked = new HashMap<>();
        all.units().forEach(unit -> asked.merge(new Seat(world.unit(unit).place(), all.tenant()), 1, Integer::sum));
        asked.forEach((seat, count) -> {
            int there = runs.getOrDefault(seat, 0);
            if (there + leaving.getOrDefault(seat, 0) < count && !mayHaveEnded(all.tenant())) {
                broken(
                        "half bound",
                        "%s works on %s of %s, but runs there %d times and not %d times"
                                .formatted(all.tenant(), seat.place(), name, there, count));
            }
        });
    }

    /** What a step changed: units that tenants gain by decision, and replicas that are taken from services. */
    void stepped(ClusterState before, Step step, ClusterState after) {
        Set<DecisionId> decided = step.decisions().stream().map(Decision::id).collect(Collectors.toSet());
        Set<GpuId> begun = new TreeSet<>();
        for (GpuId id : step.changed().owners()) {
            Optional<GpuState> unit = after.gpus().get(id);
            Optional<Owner> old = before.gpus().get(id).map(GpuState::owner);
            unit.filter(each -> each.owner()
                            .asBinding()
                            .filter(binding -> decided.contains(binding.decision()))
                            .isPresent())
                    .ifPresent(each -> gain(after, each));
            unit.filter(each ->
                            each.owner().isUp() && old.filter(Owner::isBinding).isPresent())
                    .ifPresent(each -> begun.add(id));
            boolean isTaken = unit.filter(each -> each.owner().isReleasing()).isPresent()
                    && old.filter(Owner::isUp).isPresent();
            if (isTaken) {
                old.flatMap(Owner::replicaOf)
                        .flatMap(after.services()::get)
                        .ifPresent(service -> checkFloor(after, service, id));
            }
        }
        checkTogether(before, after, begun);
    }

    private void checkFloor(ClusterState after, ServiceState service, GpuId taken) {
        ServiceId name = service.spec().service();
        Tenant tenant = new Tenant.Service(name);
        Map<Seat, Integer> runs = runs();
        int left = 0;
        for (Map.Entry<Seat, Integer> up :
                held(after, unit -> unit.owner().isUp()).entrySet()) {
            left += up.getKey().tenant().equals(tenant)
                    ? Math.min(up.getValue(), runs.getOrDefault(up.getKey(), 0))
                    : 0;
        }
        if (!mayHaveEnded(tenant)
                && tenant.equals(running.get(taken))
                && left < service.spec().floorReplicas()) {
            broken(
                    "floor",
                    "%s is taken from %s, which keeps %d of %d replicas"
                            .formatted(taken, name, left, service.spec().floorReplicas()));
        }
    }

    /** Whether a tenant has ended somewhere so lately that the scheduler need not know it. */
    private boolean mayHaveEnded(Tenant tenant) {
        Instant end = ends.get(tenant);
        return end != null && end.plus(UNREPORTED).isAfter(now);
    }

    private void gain(ClusterState state, GpuState unit) {
        Optional<ClusterQueue> queue = unit.owner().holder().flatMap(state.entities()::queueOf);
        Optional<KindQuota> quota = queue.flatMap(
                of -> of.quota(Optional.of(world.unit(unit.gpuId()).kind())));
        if (quota.isPresent()) {
            limits.put(
                    new Account(queue.get().queue(), quota.get().kind()),
                    limit(state, queue.get(), quota.get(), used(state, known(state))));
        } else if (queue.isPresent()) {
            broken("quota", "%s is given to queue %s, which has no quota for it".formatted(unit.gpuId(), queue.get()));
        }
    }

    /**
     * The most that a queue may use in a quota.
     *
     * @param used what the other queues use
     */
    private static double limit(ClusterState state, ClusterQueue queue, KindQuota quota, Map<Account, Double> used) {
        double lendable = 0;
        for (QueueState other : state.queues().values()) {
            boolean isOfCohort = queue.cohort().isPresent()
                    && queue.cohort().equals(other.spec().cohort())
                    && !other.spec().queue().equals(queue.queue());
            for (KindQuota theirs : isOfCohort ? other.spec().quotas() : List.<KindQuota>of()) {
                if (theirs.kind().equals(quota.kind())) {
                    double own = theirs.nominalQuota();
                    double kept = theirs.lendingLimit()
                            .map(limit -> Math.max(0, own - limit))
                            .orElse(0.0);
                    double uses = used.getOrDefault(new Account(other.spec().queue(), theirs.kind()), 0.0);
                    lendable += own - Math.max(uses, kept);
                }
            }
        }
        return quota.nominalQuota() + Math.min(quota.borrowingLimit().orElse(Double.MAX_VALUE), Math.max(0, lendable));
    }

    private Optional<Account> account(ClusterState state, GpuId unit, Tenant tenant) {
        return state.entities()
                .queueOf(tenant)
                .flatMap(queue -> queue.quota(Optional.of(world.unit(unit).kind()))
                        .map(quota -> new Account(queue.queue(), quota.kind())));
    }

    /** What runs where the scheduler knows it: of a tenant in a place, at most as many as it has there. */
    private Map<GpuId, Tenant> known(ClusterState state) {
        Map<Seat, Integer> left = held(state, unit -> true);
        Map<GpuId, Tenant> known = new TreeMap<>();
        running.forEach((unit, tenant) -> {
            Seat seat = new Seat(world.unit(unit).place(), tenant);
            if (left.merge(seat, -1, Integer::sum) >= 0) {
                known.put(unit, tenant);
            }
        });
        return known;
    }

    /** How many of some units each tenant has in each place. */
    private Map<Seat, Integer> held(ClusterState state, Predicate<GpuState> some) {
        Map<Seat, Integer> held = new HashMap<>();
        for (GpuState unit : state.gpus().values()) {
            if (some.test(unit)) {
                unit.owner()
                        .holder()
                        .map(tenant -> new Seat(world.unit(unit.gpuId()).place(), tenant))
                        .ifPresent(seat -> held.merge(seat, 1, Integer::sum));
            }
        }
        return held;
    }

    private Map<Seat, Integer> runs() {
        Map<Seat, Integer> runs = new HashMap<>();
        running.forEach((unit, tenant) -> runs.merge(new Seat(world.unit(unit).place(), tenant), 1, Integer::sum));
        return runs;
    }

    /** Compares the state of the scheduler in office with what runs. */
    void judge(ClusterState state) {
        Map<String, Integer> strangers = new TreeMap<>();
        Map<Seat, Integer> held = held(state, unit -> true);
        runs().forEach((seat, count) -> {
            int more = count - held.getOrDefault(seat, 0);
            if (more > 0) {
                strangers.merge(seat.place(), more, Integer::sum);
            }
        });
        strangers.forEach((place, count) -> {
            long outOfService = state.gpus().stream()
                    .filter(unit -> world.unit(unit.gpuId()).place().equals(place))
                    .filter(unit -> unit.owner().isQuarantined())
                    .count();
            if (count > outOfService) {
                broken(
                        "one owner",
                        "in %s run %s, which the scheduler takes for %s"
                                .formatted(place, of(runs(), place), of(held, place)));
            }
        });
        Map<GpuId, Tenant> known = known(state);
        checkKinds(state, known);
        checkBundles(known);
        checkQuotas(state, known);
    }

    private static Map<Tenant, Integer> of(Map<Seat, Integer> counts, String place) {
        Map<Tenant, Integer> there = new HashMap<>();
        counts.forEach((seat, count) -> {
            if (seat.place().equals(place)) {
                there.put(seat.tenant(), count);
            }
        });
        return there;
    }

    private void checkKinds(ClusterState state, Map<GpuId, Tenant> known) {
        known.forEach((unit, tenant) -> {
            KindId kind = world.unit(unit).kind();
            boolean isExcluded = tenant.jobId()
                            .flatMap(state.jobs()::get)
                            .map(JobState::spec)
                            .filter(job -> job.excludes(kind))
                            .isPresent()
                    || tenant.serviceId()
                            .flatMap(state.services()::get)
                            .filter(service -> !service.spec().uses(Optional.of(kind)))
                            .isPresent();
            if (isExcluded) {
                broken("excluded kind", "%s runs on %s, of kind %s".formatted(tenant, unit, kind));
            }
        });
    }

    private void checkBundles(Map<GpuId, Tenant> known) {
        Map<String, List<GpuId>> bundles = new TreeMap<>();
        known.keySet()
                .forEach(unit -> world.unit(unit)
                        .bundle()
                        .ifPresent(bundle -> bundles.computeIfAbsent(bundle, any -> new ArrayList<>())
                                .add(unit)));
        bundles.forEach((bundle, units) -> {
            long lastJob = lastStart(units, true);
            long lastReplica = lastStart(units, false);
            if (lastJob > 0 && lastReplica > 0) {
                broken(
                        "bundle",
                        "a job and a service run in %s, the %s came last: %s"
                                .formatted(bundle, lastJob > lastReplica ? "job" : "service", units));
            }
        });
    }

    private long lastStart(List<GpuId> units, boolean ofJobs) {
        return units.stream()
                .map(since::get)
                .filter(start -> start.tenant().isJob() == ofJobs)
                .mapToLong(Since::look)
                .max()
                .orElse(0);
    }

    /** Whatever runs was counted already when the queue last got a unit. */
    private void checkQuotas(ClusterState state, Map<GpuId, Tenant> known) {
        used(state, known).forEach((account, used) -> {
            double limit = limits.getOrDefault(account, Double.POSITIVE_INFINITY);
            if (used > limit + ROUNDING) {
                broken(
                        "quota",
                        "%s uses %s GPUs, but could have %s when it got the last one".formatted(account, used, limit));
            }
        });
    }

    private Map<Account, Double> used(ClusterState state, Map<GpuId, Tenant> known) {
        Map<Account, Double> used = new HashMap<>();
        known.forEach((unit, tenant) -> account(state, unit, tenant)
                .ifPresent(account -> used.merge(account, world.unit(unit).share(), Double::sum)));
        return used;
    }

    /** In quiet time: what a queue has beyond its nominal quota goes to those who ask for it, within a notice. */
    void checkClaims(ClusterState state) {
        Map<GpuId, Tenant> known = known(state);
        Map<Account, Double> used = used(state, known);
        checkExcess(state, known, used);
        Set<JobId> open = new HashSet<>();
        for (JobState job : state.jobs().values()) {
            TrainingJob spec = job.spec();
            boolean isPlain = spec.scaling().least() == 1
                    && spec.shape().isAny()
                    && spec.hardDeadline().isEmpty()
                    && job.changing().isEmpty();
            boolean waits =
                    isPlain && !job.isOver() && !job.isRefused() && !running.containsValue(new Tenant.Job(spec.job()));
            boolean hasClaim =
                    waits && known.keySet().stream().anyMatch(unit -> isOwed(state, unit, known.get(unit), spec, used));
            if (hasClaim) {
                open.add(spec.job());
            }
        }
        asking.keySet().retainAll(open);
        for (JobId job : open) {
            claims += asking.containsKey(job) ? 0 : 1;
            Instant first = asking.computeIfAbsent(job, any -> now);
            if (first.plus(LONGEST_CLAIM).isBefore(now)) {
                broken("excess kept", "%s waits since %s for what another queue has too much".formatted(job, first));
            }
        }
    }

    /** In quiet time: no queue keeps units of jobs beyond what its cohort could lend it at most. */
    private void checkExcess(ClusterState state, Map<GpuId, Tenant> known, Map<Account, Double> used) {
        Map<Account, Double> beyond = new HashMap<>();
        known.forEach((unit, tenant) -> {
            Optional<ClusterQueue> queue = state.entities().queueOf(tenant).filter(any -> tenant.isJob());
            Optional<KindQuota> quota =
                    queue.flatMap(of -> of.quota(Optional.of(world.unit(unit).kind())));
            if (quota.isPresent()) {
                Account account = new Account(queue.get().queue(), quota.get().kind());
                double most = limit(state, queue.get(), quota.get(), Map.of());
                if (used.getOrDefault(account, 0.0) > most + ROUNDING) {
                    beyond.put(account, most);
                }
            }
        });
        excess.keySet().retainAll(beyond.keySet());
        beyond.forEach((account, most) -> {
            Instant first = excess.computeIfAbsent(account, any -> now);
            if (first.plus(LONGEST_CLAIM).isBefore(now)) {
                broken(
                        "excess kept",
                        "%s uses more than %s GPUs since %s, and could never have more"
                                .formatted(account, most, first));
            }
        });
    }

    /** Whether a job could have a unit out of the nominal quota of its queue, from a queue that is above its own. */
    private boolean isOwed(ClusterState state, GpuId unit, Tenant tenant, TrainingJob job, Map<Account, Double> used) {
        Optional<ClusterQueue> mine = state.entities().queueOf(new Tenant.Job(job.job()));
        Optional<ClusterQueue> theirs = state.entities().queueOf(tenant);
        boolean isInReach = tenant.isJob()
                && world.unit(unit).share() == 1
                && state.gpus().require(unit).pool() == Pool.TRAINING
                && !job.excludes(world.unit(unit).kind());
        if (!isInReach || mine.isEmpty() || theirs.isEmpty()) {
            return false;
        }
        Optional<KindId> kind = Optional.of(world.unit(unit).kind());
        Optional<KindQuota> asked = mine.get().quota(kind);
        Optional<KindQuota> taken = theirs.get().quota(kind);
        boolean isOfCohort = mine.get().cohort().isPresent()
                && mine.get().cohort().equals(theirs.get().cohort())
                && !mine.get().queue().equals(theirs.get().queue())
                && mine.get().inCohort() == Preemption.ANY;
        if (!isOfCohort
                || asked.isEmpty()
                || taken.isEmpty()
                || !asked.get().kind().equals(taken.get().kind())) {
            return false;
        }
        int floors = state.services().stream()
                .filter(service -> service.spec().queue().equals(job.queue()))
                .mapToInt(service -> service.spec().floorReplicas())
                .sum();
        double has =
                used.getOrDefault(new Account(mine.get().queue(), asked.get().kind()), 0.0);
        double too =
                used.getOrDefault(new Account(theirs.get().queue(), taken.get().kind()), 0.0);
        return has + floors + 1 <= asked.get().nominalQuota()
                && too > taken.get().nominalQuota() + ROUNDING;
    }

    /**
     * After a long quiet time the scheduler knows exactly what runs, no job runs that was refused, each job has a size
     * that it allows, and replicas of several units are whole.
     */
    void conclude(ClusterState state) {
        Set<String> unclear = new HashSet<>();
        for (GpuState unit : state.gpus().values()) {
            Owner owner = unit.owner();
            if (owner.isQuarantined() || owner.isBinding() || owner.isReleasing()) {
                unclear.add(world.unit(unit.gpuId()).place());
            }
        }
        for (GpuState unit : state.gpus().values()) {
            Optional<Tenant> holder =
                    unit.owner().holder().filter(any -> unit.owner().isUp());
            boolean isNamed = unit.slot().filter(slot -> !slot.isSlot()).isPresent();
            Optional<Tenant> runs = Optional.ofNullable(running.get(unit.gpuId()));
            if (isNamed && holder.isPresent() && !holder.equals(runs)) {
                broken("named unit", "%s was seen on %s, where %s runs".formatted(holder.get(), unit.gpuId(), runs));
            }
        }
        Map<Seat, Integer> held = held(state, unit -> true);
        Map<Seat, Integer> runs = runs();
        Set<Seat> seats = new HashSet<>(held.keySet());
        seats.addAll(runs.keySet());
        for (Seat seat : seats) {
            int has = held.getOrDefault(seat, 0);
            int uses = runs.getOrDefault(seat, 0);
            if (has != uses && !unclear.contains(seat.place())) {
                broken("drift", "%s runs %d times, and should %d times".formatted(seat, uses, has));
            }
        }
        Map<GpuId, Tenant> known = known(state);
        checkReplicas(state, known, unclear);
        Map<JobId, Integer> sizes = new TreeMap<>();
        known.values().forEach(tenant -> tenant.jobId().ifPresent(job -> sizes.merge(job, 1, Integer::sum)));
        sizes.forEach((name, size) -> checkSize(state.jobs().require(name), size));
    }

    /** Whole replicas only, but for those that start or leave: by unit, or by number where drivers choose units. */
    private void checkReplicas(ClusterState state, Map<GpuId, Tenant> known, Set<String> unclear) {
        for (Together all : new HashSet<>(together.values())) {
            boolean isLeaving = all.units().stream()
                    .filter(unit -> all.tenant().equals(known.get(unit)))
                    .allMatch(unit -> state.gpus()
                            .get(unit)
                            .filter(now -> now.owner().isReleasing())
                            .isPresent());
            boolean isComing = all.units().stream().allMatch(unit -> isStarting(state, unit, all.tenant()));
            if (!all.isReplica()
                    || isLeaving
                    || isComing
                    || all.units().stream().anyMatch(this::isOfSlots)) {
                continue;
            }
            long here = all.units().stream()
                    .filter(unit ->
                            all.equals(together.get(unit)) && all.tenant().equals(known.get(unit)))
                    .count();
            if (here > 0 && here < all.units().size()) {
                broken("left of a replica", "%s runs on %d units of %s".formatted(all.tenant(), here, all.units()));
            }
        }
        Map<Seat, Integer> runs = runs();
        partsOfSlots(state).forEach((seat, size) -> {
            int count = runs.getOrDefault(seat, 0);
            if (count % size != 0 && !unclear.contains(seat.place())) {
                broken(
                        "left of a replica",
                        "%s runs on %d units in %s, where replicas have %d"
                                .formatted(seat.tenant(), count, seat.place(), size));
            }
        });
    }

    private static boolean isStarting(ClusterState state, GpuId unit, Tenant tenant) {
        return state.gpus()
                .get(unit)
                .filter(known -> known.owner().isBinding() && known.isHeldBy(tenant))
                .isPresent();
    }

    /** The units that replicas of a tenant have in a place, where drivers do not choose units: a divisor of them all. */
    private Map<Seat, Integer> partsOfSlots(ClusterState state) {
        Map<Seat, Integer> parts = new HashMap<>();
        Set<ReplicaId> present = new HashSet<>();
        state.gpus()
                .values()
                .forEach(unit -> unit.part().map(GroupPart::replica).ifPresent(present::add));
        for (ReplicaId name : present) {
            Together all = byName.get(name);
            if (all == null || !all.isReplica() || all.units().stream().noneMatch(this::isOfSlots)) {
                continue;
            }
            Map<Seat, Integer> here = new HashMap<>();
            all.units().forEach(unit -> here.merge(new Seat(world.unit(unit).place(), all.tenant()), 1, Integer::sum));
            here.forEach((seat, count) -> parts.merge(seat, count, ClusterTruth::commonDivisor));
        }
        return parts;
    }

    /** Whether a driver may take another unit for this one. */
    private boolean isOfSlots(GpuId unit) {
        return !world.unit(unit).place().equals(unit.value());
    }

    private static int commonDivisor(int one, int other) {
        return other == 0 ? one : commonDivisor(other, one % other);
    }

    private void checkSize(JobState job, int size) {
        TrainingJob spec = job.spec();
        boolean isSettled = job.changing().isEmpty() && job.allocation().gpus().size() == size;
        if (job.isRefused()) {
            broken("refused job", "%s runs on %d units".formatted(spec.job(), size));
        } else if (isSettled && !spec.shape().allows(size)) {
            broken("size", "%s runs on %d units, but has shape %s".formatted(spec.job(), size, spec.shape()));
        }
    }
}
