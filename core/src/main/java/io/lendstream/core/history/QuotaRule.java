package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * No decision raises a queue above its limit, and none takes units for another queue from a queue within its nominal
 * quota. A unit is for its own queue if a job of a higher priority gets it, and the queue allows that, or if a floor of
 * the queue lacks replicas. The gains of an event must have an order in which each keeps the limit that the gains
 * before it leave. A queue may be above its limit for other causes; those of a lowered quota are judged by {@link
 * LoweredQuotaRule}.
 */
final class QuotaRule implements HistoryRule {
    private final Violations violations;
    /** The promises before the event. */
    private Set<Promise> promised = Set.of();

    QuotaRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        promised = Set.copyOf(state.promises());
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        ClusterEntities entities = replayed.state().entities();
        if (entities.queues().isEmpty() || replayed.decisions().isEmpty()) {
            return;
        }
        checkTaken(replayed, entities);
        SortedMap<QueueId, List<GpuState>> gained = gained(replayed, entities);
        if (gained.isEmpty()) {
            return;
        }
        check(QueueLedger.of(entities), gained, replayed.event().sequence());
    }

    /** Takes gains back, the last one first: that of a queue which is within its limit after all the others. */
    private void check(QueueLedger ledger, SortedMap<QueueId, List<GpuState>> gained, long event) {
        SortedMap<QueueId, List<GpuState>> open = new TreeMap<>(gained);
        while (!open.isEmpty()) {
            Optional<QueueId> last = open.keySet().stream()
                    .filter(queue -> open.getOrDefault(queue, List.of()).stream()
                            .allMatch(unit -> isWithin(ledger.use(queue, unit.kind()))))
                    .findFirst();
            if (last.isEmpty()) {
                open.forEach((queue, units) -> report(ledger, queue, units, event));
                return;
            }
            open.getOrDefault(last.get(), List.of()).forEach(unit -> ledger.remove(unit.gpuId()));
            open.remove(last.get());
        }
    }

    private static boolean isWithin(Optional<QuotaUse> use) {
        return use.filter(known -> !known.isOver()).isPresent();
    }

    /** Units may be taken for the quota of another queue only from a queue that has more than its nominal quota. */
    private void checkTaken(ReplayedEvent replayed, ClusterEntities entities) {
        List<Decision> taking = replayed.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.QUOTA) && !stopsSleepers(decision, replayed))
                .toList();
        if (taking.isEmpty()) {
            return;
        }
        QueueLedger kept = QueueLedger.of(entities).withoutLeaving();
        for (Promise promise : replayed.state().promises()) {
            entities.gpus()
                    .get(promise.unit())
                    .ifPresent(unit -> put(kept, entities, unit, Optional.of(promise.tenant())));
        }
        for (Decision decision : replayed.decisions()) {
            if (decision.id().sequence() >= taking.get(0).id().sequence()) {
                released(replayed, decision)
                        .forEach(unit -> put(kept, entities, unit, unit.owner().holder()));
            }
        }
        for (Decision decision : taking) {
            List<GpuState> released = released(replayed, decision);
            Set<Tenant> gaining = gaining(replayed, released);
            for (GpuState unit : released) {
                checkTaken(kept, gaining, unit, replayed);
            }
            released.forEach(unit -> kept.remove(unit.gpuId()));
        }
    }

    /**
     * The tenants that units may be taken for: those that have a promise of one of them, and those that got a promise
     * or a unit for their quota by this event. Units may be taken only to free quota, and a tenant may get another one.
     */
    private Set<Tenant> gaining(ReplayedEvent replayed, List<GpuState> released) {
        Set<GpuId> units = released.stream().map(GpuState::gpuId).collect(Collectors.toSet());
        Set<Tenant> gaining = new HashSet<>();
        for (Promise promise : replayed.state().promises()) {
            if (units.contains(promise.unit()) || !promised.contains(promise)) {
                gaining.add(promise.tenant());
            }
        }
        for (GpuState unit : replayed.bound(decision -> decision.reason().is(ReasonCode.QUOTA))) {
            unit.owner().holder().ifPresent(gaining::add);
        }
        return gaining;
    }

    /** Whether a service of a queue has fewer replicas than its floor: floors come before jobs. */
    private static boolean lacksFloor(ClusterEntities entities, ClusterQueue queue) {
        for (ServiceState service : entities.services().values()) {
            InferenceService spec = service.spec();
            if (spec.queue().equals(Optional.of(queue.queue()))) {
                long replicas = entities.gpus().stream()
                        .filter(unit -> unit.isHeldBy(new Tenant.Service(spec.service()))
                                && !unit.owner().isReleasing()
                                && spec.uses(unit.kind()))
                        .count();
                if (replicas < spec.floorReplicas()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a unit is taken from a job for a floor, or a job, of its own queue that may take it. */
    private static boolean isForOwn(ClusterEntities entities, GpuState unit, Set<Tenant> gaining) {
        Optional<JobState> loser = unit.owner().holdingJob().flatMap(entities.jobs()::get);
        Optional<ClusterQueue> queue = unit.owner().holder().flatMap(entities::queueOf);
        if (loser.isPresent() && queue.isPresent() && lacksFloor(entities, queue.get())) {
            return true;
        }
        for (Tenant tenant : gaining) {
            Optional<JobState> gains = tenant.jobId().flatMap(entities.jobs()::get);
            if (loser.isPresent()
                    && gains.isPresent()
                    && queue.isPresent()
                    && queue.equals(entities.queueOf(tenant))
                    && queue.get().within().takes(entities.priorityOf(loser.get()), entities.priorityOf(gains.get()))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a decision stops replicas that sleep, on units that jobs get with their bundles: these are idle. */
    private static boolean stopsSleepers(Decision decision, ReplayedEvent replayed) {
        if (decision.action().asIdle().isEmpty()) {
            return false;
        }
        ClusterEntities entities = replayed.state().entities();
        Set<String> stopped = new HashSet<>();
        decision.action().gpus().forEach(unit -> stopped.add(place(entities, unit)));
        return replayed.state().promises().stream()
                .anyMatch(promise -> promise.tenant().isJob() && stopped.contains(place(entities, promise.unit())));
    }

    /** The bundle that a unit is lent with, or the unit itself. */
    private static String place(ClusterEntities entities, GpuId unit) {
        return entities.gpus().get(unit).flatMap(entities::bundleOf).orElse(unit.value());
    }

    private void checkTaken(QueueLedger kept, Set<Tenant> gaining, GpuState unit, ReplayedEvent replayed) {
        ClusterEntities entities = replayed.state().entities();
        Optional<QueueId> queue =
                unit.owner().holder().flatMap(entities::queueOf).map(ClusterQueue::queue);
        Optional<QuotaUse> use = queue.flatMap(name -> kept.use(name, unit.kind()));
        boolean hasQuota = queue.isEmpty() || use.isPresent(); // what has no quota any more may be taken
        if (hasQuota && use.filter(known -> known.excess() > 0).isEmpty() && !isForOwn(entities, unit, gaining)) {
            violations.add(
                    Rule.QUOTA,
                    "event %d took %s for another queue from queue %s, which uses %s"
                            .formatted(
                                    replayed.event().sequence(),
                                    unit.gpuId(),
                                    queue.map(QueueId::value).orElse("none"),
                                    use.map(QuotaUse::inWords).orElse("no quota")));
        }
    }

    /** The units that a decision releases. */
    private static List<GpuState> released(ReplayedEvent replayed, Decision decision) {
        List<GpuState> released = new ArrayList<>();
        for (GpuId id : replayed.changed().owners()) {
            replayed.state()
                    .gpus()
                    .get(id)
                    .filter(unit -> unit.owner()
                            .asReleasing()
                            .filter(release -> release.decision().equals(decision.id()))
                            .isPresent())
                    .ifPresent(released::add);
        }
        return released;
    }

    private static void put(QueueLedger kept, ClusterEntities entities, GpuState unit, Optional<Tenant> tenant) {
        tenant.flatMap(entities::queueOf)
                .ifPresent(queue ->
                        kept.add(unit.gpuId(), queue.queue(), unit.kind(), QueueLedger.gpus(entities, unit), false));
    }

    /** The units that the event's decisions gave to tenants of each queue. */
    private static SortedMap<QueueId, List<GpuState>> gained(ReplayedEvent replayed, ClusterEntities entities) {
        SortedMap<QueueId, List<GpuState>> gained = new TreeMap<>();
        for (GpuState unit : replayed.bound(decision -> true)) {
            unit.owner()
                    .holder()
                    .flatMap(entities::queueOf)
                    .ifPresent(queue -> gained.computeIfAbsent(queue.queue(), any -> new ArrayList<>())
                            .add(unit));
        }
        return gained;
    }

    private void report(QueueLedger ledger, QueueId queue, List<GpuState> units, long event) {
        for (GpuState unit : units) {
            Optional<QuotaUse> use = ledger.use(queue, unit.kind());
            if (!isWithin(use)) {
                violations.add(
                        Rule.QUOTA,
                        "event %d gave %s to queue %s, which uses %s"
                                .formatted(
                                        event,
                                        unit.gpuId(),
                                        queue,
                                        use.map(QuotaUse::inWords).orElse("GPUs without a quota for them")));
            }
        }
    }
}
