package io.lendstream.core.history;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.LimitExcess;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.WarmReplica;
import io.lendstream.core.state.WarmReplicas;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the declaration of a queue leaves above limits is taken back within a notice, also if no tenant asks for it. The
 * notice begins when decisions are allowed, and something may be taken: no replica that a floor needs, that starts, or
 * that runs on a MIG instance, and nothing on nodes that cannot be reached. What a queue has too much because others of
 * its cohort got units by decisions is no debt.
 */
final class LoweredQuotaRule implements HistoryRule {
    private static final double ROUNDING = 1e-6;

    private final Violations violations;
    private final Map<OwedQuota, Debt> debts = new HashMap<>();
    private Optional<ClusterState> before = Optional.empty();

    /** A quota of a queue, or a kind of GPU that it has no quota for. */
    private record OwedQuota(QueueId queue, Optional<KindId> kind) {
        static OwedQuota of(QuotaUse use) {
            return new OwedQuota(use.queue(), use.kind());
        }
    }

    /**
     * What a queue has to give back.
     *
     * @param others GPUs that it has too much because others got as many
     * @param since when it could have been taken back
     */
    private record Debt(double gpus, double others, Instant since) {}

    LoweredQuotaRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        before = Optional.of(state);
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        replayed.event().event().asQueue().ifPresent(queue -> before.ifPresent(known -> owe(queue, known.entities())));
        if (debts.isEmpty()) {
            return;
        }
        Map<OwedQuota, QuotaUse> over = over(replayed.state().entities());
        List<GpuState> gained = replayed.bound(any -> true);
        for (OwedQuota quota : List.copyOf(debts.keySet())) {
            Optional<QuotaUse> use = Optional.ofNullable(over.get(quota));
            Optional<Debt> debt = Optional.ofNullable(debts.remove(quota));
            if (use.isPresent() && debt.isPresent()) {
                judge(replayed, use.get(), debt.get(), gained);
            }
        }
    }

    /** Adds what a declaration leaves above limits. */
    private void owe(ClusterQueue queue, ClusterEntities known) {
        Map<OwedQuota, QuotaUse> had = over(known);
        ClusterEntities next = with(queue, known);
        over(next).forEach((quota, use) -> {
            double more = LimitExcess.added(known, Optional.ofNullable(had.get(quota)), next, use);
            if (more > ROUNDING) {
                Debt old = debts.getOrDefault(quota, new Debt(0, 0, Instant.MIN));
                debts.put(quota, new Debt(old.gpus() + more, old.others(), Instant.MIN));
            }
        });
    }

    private static ClusterEntities with(ClusterQueue queue, ClusterEntities known) {
        if (queue.removed()) {
            return known.without(queue.queue());
        }
        return known.with(known.queues()
                .get(queue.queue())
                .map(state -> state.describedBy(queue))
                .orElseGet(() -> QueueState.of(queue)));
    }

    private static Map<OwedQuota, QuotaUse> over(ClusterEntities entities) {
        Map<OwedQuota, QuotaUse> over = new HashMap<>();
        LimitExcess.of(entities).forEach(use -> over.put(OwedQuota.of(use), use));
        return over;
    }

    private void judge(ReplayedEvent replayed, QuotaUse use, Debt debt, List<GpuState> gained) {
        ClusterState state = replayed.state();
        double others = Math.min(use.over(), debt.others() + gainedByOthers(state.entities(), use, gained));
        double gpus = Math.min(debt.gpus(), use.over() - others);
        if (gpus <= ROUNDING) {
            return;
        }
        boolean isStarted = !debt.since().equals(Instant.MIN)
                && replayed.scheduler().takesForQuotas(state)
                && mayTake(state.entities(), use);
        Instant since = isStarted ? debt.since() : state.now();
        if (since.plus(replayed.scheduler().settings().notice()).isBefore(state.now())) {
            violations.add(
                    Rule.QUOTA,
                    "queue %s still has %s above its limit at %s, a notice after its quota was lowered: it uses %s"
                            .formatted(use.queue(), QuotaUse.gpus(gpus), state.now(), use.inWords()));
        } else {
            debts.put(OwedQuota.of(use), new Debt(gpus, others, since));
        }
    }

    /** Whether something may be taken from a queue in a quota. */
    private static boolean mayTake(ClusterEntities entities, QuotaUse use) {
        ClusterQueue queue = entities.queues().require(use.queue()).spec();
        for (JobState job : entities.holdingJobs()) {
            if (isOf(entities, new Tenant.Job(job.spec().job()), queue)
                    && job.allocation().gpus().stream().anyMatch(unit -> isInReach(entities, queue, use, unit))) {
                return true;
            }
        }
        for (ServiceState service : entities.services().values()) {
            if (isOf(entities, new Tenant.Service(service.spec().service()), queue)) {
                WarmReplicas warm = WarmReplicas.of(entities.clusterIndex(), service.spec());
                if (warm.all().stream()
                        .anyMatch(replica -> warm.mayStop(replica) && isInReach(entities, queue, use, replica))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isOf(ClusterEntities entities, Tenant tenant, ClusterQueue queue) {
        return entities.queueOf(tenant).filter(queue::equals).isPresent();
    }

    private static boolean isInReach(ClusterEntities entities, ClusterQueue queue, QuotaUse use, GpuId unit) {
        return entities.gpus()
                .get(unit)
                .filter(known -> LimitExcess.counts(queue, use, known.kind()))
                .flatMap(known -> entities.nodes().get(known.nodeId()))
                .filter(node -> node.node().status() == NodeStatus.READY)
                .isPresent();
    }

    private static boolean isInReach(ClusterEntities entities, ClusterQueue queue, QuotaUse use, WarmReplica replica) {
        return replica.units().stream()
                .allMatch(unit -> isInReach(entities, queue, use, unit.gpuId())
                        && !entities.scopes().isClosed(unit.nodeId()));
    }

    /** GPUs that other queues of a cohort got, in quotas of the same kind. */
    private static double gainedByOthers(ClusterEntities entities, QuotaUse use, List<GpuState> gained) {
        ClusterQueue queue = entities.queues().require(use.queue()).spec();
        double gpus = 0;
        for (GpuState unit : gained) {
            boolean isOfOther = unit.owner()
                    .holder()
                    .flatMap(entities::queueOf)
                    .filter(other -> !other.queue().equals(queue.queue())
                            && queue.cohort().isPresent()
                            && other.cohort().equals(queue.cohort()))
                    .flatMap(other -> other.quota(unit.kind()))
                    .filter(quota -> quota.kind().equals(use.kind()))
                    .isPresent();
            gpus += isOfOther ? QueueLedger.gpus(entities, unit) : 0;
        }
        return gpus;
    }
}
