package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * No decision raises a queue above its limit, and none takes units for another queue from a queue within its nominal
 * quota. The gains of an event must have an order in which each keeps the limit that the gains before it leave. A queue
 * may be above its limit for other causes, such as a lowered quota.
 */
final class QuotaRule implements HistoryRule {
    private final Violations violations;

    QuotaRule(Violations violations) {
        this.violations = violations;
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
            for (GpuState unit : released(replayed, decision)) {
                checkTaken(kept, entities, unit, replayed);
            }
            released(replayed, decision).forEach(unit -> kept.remove(unit.gpuId()));
        }
    }

    /** Whether a decision stops replicas that sleep: these are idle, whatever their quota. */
    private static boolean stopsSleepers(Decision decision, ReplayedEvent replayed) {
        return decision.action().asIdle().isPresent()
                && replayed.state().promises().stream()
                        .anyMatch(promise -> promise.tenant().isJob()
                                && decision.action().gpus().contains(promise.unit()));
    }

    private void checkTaken(QueueLedger kept, ClusterEntities entities, GpuState unit, ReplayedEvent replayed) {
        Optional<QueueId> queue =
                unit.owner().holder().flatMap(entities::queueOf).map(ClusterQueue::queue);
        Set<QueueId> gaining = gained(replayed, entities).keySet();
        boolean isForOwn = queue.filter(gaining::contains).isPresent()
                || replayed.state().promises().stream()
                        .anyMatch(promise ->
                                queue.equals(entities.queueOf(promise.tenant()).map(ClusterQueue::queue)));
        Optional<QuotaUse> use = queue.flatMap(name -> kept.use(name, unit.kind()));
        if (!isForOwn && use.filter(known -> known.excess() > 0).isEmpty()) {
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
        for (var id : replayed.changed().owners()) {
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
        Set<DecisionId> decisions =
                replayed.decisions().stream().map(Decision::id).collect(Collectors.toSet());
        SortedMap<QueueId, List<GpuState>> gained = new TreeMap<>();
        for (var id : replayed.changed().owners()) {
            Optional<GpuState> unit = entities.gpus()
                    .get(id)
                    .filter(known -> known.owner()
                            .asBinding()
                            .filter(binding -> decisions.contains(binding.decision()))
                            .isPresent());
            Optional<QueueId> queue = unit.flatMap(known -> known.owner().holder())
                    .flatMap(entities::queueOf)
                    .map(ClusterQueue::queue);
            if (unit.isPresent() && queue.isPresent()) {
                gained.computeIfAbsent(queue.get(), any -> new ArrayList<>()).add(unit.get());
            }
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
