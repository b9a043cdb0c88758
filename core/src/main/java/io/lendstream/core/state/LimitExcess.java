package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What queues have above their limits, once all releases are reported. Units of a kind for which a queue has no quota
 * are above its limit too. Decisions do not lead to it, but a lowered quota does, or a growing use by the queue that
 * lends.
 */
public final class LimitExcess {
    private LimitExcess() {}

    /** The quotas that are exceeded, by queue. */
    public static List<QuotaUse> of(ClusterEntities entities) {
        QueueLedger kept = QueueLedger.of(entities).withoutLeaving();
        List<QuotaUse> over = new ArrayList<>();
        for (QueueState queue : entities.queues().values()) {
            for (QuotaUse use : kept.uses(queue.spec().queue())) {
                if (use.isOver()) {
                    over.add(use);
                }
            }
        }
        over.addAll(withoutQuota(entities));
        return over;
    }

    /** Those of one queue. */
    public static List<QuotaUse> of(ClusterEntities entities, QueueId queue) {
        List<QuotaUse> over = of(entities);
        over.removeIf(use -> !use.queue().equals(queue));
        return over;
    }

    /**
     * GPUs that a change of declarations leaves above a limit more than before, or more of them above the most that the
     * cohort of the queue could lend it: other queues that use less would not make up for these.
     *
     * @param had what was above that limit before; empty if nothing was
     */
    public static double added(ClusterEntities before, Optional<QuotaUse> had, ClusterEntities after, QuotaUse now) {
        double over = had.map(QuotaUse::over).orElse(0.0);
        double lasting = had.map(use -> lasting(before, use)).orElse(0.0);
        return Math.max(now.over() - over, lasting(after, now) - lasting);
    }

    private static double lasting(ClusterEntities entities, QuotaUse use) {
        QueueLedger unused =
                new QueueLedger(entities.queues().stream().map(QueueState::spec).toList());
        double most = 0;
        for (QuotaUse each : unused.uses(use.queue())) {
            most += each.kind().equals(use.kind()) ? each.limit() : 0;
        }
        return Math.max(0, use.used() - most);
    }

    /** Whether a unit counts in a quota of a queue, or is of the kind for which the queue has none. */
    public static boolean counts(ClusterQueue queue, QuotaUse use, Optional<KindId> unit) {
        return queue.quota(unit).map(quota -> quota.kind().equals(use.kind())).orElseGet(() -> unit.equals(use.kind()));
    }

    /** GPUs of queues that have no quota for their kind. */
    private static List<QuotaUse> withoutQuota(ClusterEntities entities) {
        Map<QueueId, Map<String, QuotaUse>> uses = new TreeMap<>();
        Map<Tenant, Optional<ClusterQueue>> queues = new HashMap<>();
        for (GpuState unit : entities.gpus().values()) {
            if (unit.owner().isReleasing()) {
                continue;
            }
            unit.owner()
                    .holder()
                    .flatMap(tenant -> queues.computeIfAbsent(tenant, entities::queueOf))
                    .filter(queue -> queue.quota(unit.kind()).isEmpty())
                    .ifPresent(queue -> uses.computeIfAbsent(queue.queue(), any -> new TreeMap<>())
                            .merge(
                                    unit.kind().map(KindId::value).orElse(""),
                                    none(queue.queue(), unit.kind(), QueueLedger.gpus(entities, unit)),
                                    (one, more) -> none(one.queue(), one.kind(), one.used() + more.used())));
        }
        List<QuotaUse> all = new ArrayList<>();
        uses.values().forEach(kinds -> all.addAll(kinds.values()));
        return all;
    }

    private static QuotaUse none(QueueId queue, Optional<KindId> kind, double used) {
        return new QuotaUse(queue, kind, 0, used, 0, 0);
    }
}
