package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The GPUs that each queue uses, and the most that it may use. It is built when it is needed, and then follows changes
 * of owners.
 *
 * <ul>
 *   <li>A unit counts for the tenant that takes it, from the decision on, and for the tenant that leaves it until its
 *       release is reported. A loan counts for the queue of the job.
 *   <li>A whole GPU counts 1, a MIG instance its compute slices divided by those of its GPU.
 *   <li>A unit counts once: in the quota of its kind, or else in the queue's quota without a kind.
 *   <li>A queue may use its nominal quota and what the other queues of its cohort may lend and do not use, up to its
 *       borrowing limit. Only quotas of the same kind lend to each other.
 * </ul>
 *
 * @see <a href="https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/">Kueue, ClusterQueue: cohort, borrowing</a>
 */
public final class QueueLedger {
    private final SortedMap<QueueId, ClusterQueue> queues = new TreeMap<>();
    /** The account of each quota of a queue, by its kind. */
    private final Map<QueueId, Map<Optional<KindId>, Account>> quotas = new HashMap<>();
    /** The accounts that units of each queue and kind count in, once they were asked for. */
    private final Map<QueueId, Map<Optional<KindId>, Optional<Account>>> accounts = new HashMap<>();

    private final Map<GpuId, Charge> charges = new HashMap<>();
    /** Whether a unit counted as a part of a GPU, so that sums depend on the order of their parts. */
    private boolean hasParts;

    /** What counts in a quota of a queue. */
    private static final class Account {
        private final QueueId queue;
        private final Optional<KindId> kind;
        private double used;
        private double leaving;

        Account(QueueId queue, Optional<KindId> kind) {
            this.queue = queue;
            this.kind = kind;
        }

        void add(double gpus, boolean isLeaving) {
            used += gpus;
            leaving += isLeaving ? gpus : 0;
        }
    }

    /** What a unit counts. */
    private record Charge(Account account, double gpus, boolean isLeaving) {}

    /** A ledger without units. */
    public QueueLedger(Iterable<ClusterQueue> declared) {
        for (ClusterQueue queue : declared) {
            queues.put(queue.queue(), queue);
        }
    }

    /** The ledger of a domain. */
    public static QueueLedger of(ClusterEntities entities) {
        QueueLedger ledger =
                new QueueLedger(entities.queues().stream().map(QueueState::spec).toList());
        Map<Tenant, Optional<ClusterQueue>> queues = new HashMap<>();
        for (GpuState unit : entities.gpus().values()) {
            unit.owner()
                    .holder()
                    .flatMap(tenant -> queues.computeIfAbsent(tenant, entities::queueOf))
                    .ifPresent(queue -> ledger.put(entities, unit, queue));
        }
        return ledger;
    }

    /** A unit in GPUs. A MIG instance of an unknown profile counts its memory. */
    public static double gpus(ClusterEntities entities, GpuState unit) {
        return unit.instance()
                .map(instance -> gpu(entities, unit.nodeId(), instance.gpu())
                        .flatMap(gpu -> gpu.computeShare(instance.profile()))
                        .orElse(instance.share()))
                .orElse(1.0);
    }

    private static Optional<Gpu> gpu(ClusterEntities entities, NodeId node, GpuId id) {
        return entities.nodes()
                .get(node)
                .flatMap(known -> known.node().gpus().stream()
                        .filter(gpu -> gpu.gpuId().equals(id))
                        .findFirst());
    }

    /** The same without the units that are being released. */
    public QueueLedger withoutLeaving() {
        QueueLedger other = new QueueLedger(queues.values());
        if (hasParts) {
            new TreeMap<>(charges).forEach((unit, charge) -> {
                if (!charge.isLeaving()) {
                    other.charge(unit, other.moved(charge));
                }
            });
            return other;
        }
        charges.forEach((unit, charge) -> {
            if (!charge.isLeaving()) {
                other.charges.put(unit, other.moved(charge));
            }
        });
        for (Map<Optional<KindId>, Account> ofQueue : quotas.values()) {
            for (Account account : ofQueue.values()) {
                other.quota(account.queue, account.kind).used = account.used - account.leaving;
            }
        }
        return other;
    }

    /** The charge in the account of this ledger. */
    private Charge moved(Charge charge) {
        return new Charge(quota(charge.account().queue, charge.account().kind), charge.gpus(), false);
    }

    /** Counts a unit for its present owner only. */
    public void put(ClusterEntities entities, GpuState unit) {
        Optional<ClusterQueue> queue = unit.owner().holder().flatMap(entities::queueOf);
        remove(unit.gpuId());
        queue.ifPresent(of -> put(entities, unit, of));
    }

    private void put(ClusterEntities entities, GpuState unit, ClusterQueue queue) {
        add(
                unit.gpuId(),
                queue.queue(),
                unit.kind(),
                gpus(entities, unit),
                unit.owner().isReleasing());
    }

    /** Counts a unit for a queue; not at all if the queue is not declared or has no quota for the kind. */
    public void add(GpuId unit, QueueId queue, Optional<KindId> kind, double gpus, boolean isLeaving) {
        account(queue, kind).ifPresent(account -> charge(unit, new Charge(account, gpus, isLeaving)));
    }

    private Optional<Account> account(QueueId queue, Optional<KindId> kind) {
        return accounts.computeIfAbsent(queue, any -> new HashMap<>())
                .computeIfAbsent(
                        kind,
                        any -> Optional.ofNullable(queues.get(queue))
                                .flatMap(known -> known.quota(kind))
                                .map(quota -> quota(queue, quota.kind())));
    }

    private Account quota(QueueId queue, Optional<KindId> kind) {
        return quotas.computeIfAbsent(queue, any -> new HashMap<>())
                .computeIfAbsent(kind, any -> new Account(queue, kind));
    }

    private void charge(GpuId unit, Charge charge) {
        remove(unit);
        hasParts |= charge.gpus() != Math.rint(charge.gpus());
        charges.put(unit, charge);
        charge.account().add(charge.gpus(), charge.isLeaving());
    }

    /** Counts a unit for no queue. */
    public void remove(GpuId unit) {
        Charge before = charges.remove(unit);
        if (before != null) {
            before.account().add(-before.gpus(), before.isLeaving());
        }
    }

    /** Whether a unit counts in the quota of a queue for a kind. */
    public boolean counts(GpuId unit, QueueId queue, Optional<KindId> kind) {
        Charge charge = charges.get(unit);
        return charge != null
                && account(queue, kind)
                        .filter(account -> account == charge.account())
                        .isPresent();
    }

    /** The quota of a queue for a kind; empty if it has none. */
    public Optional<QuotaUse> use(QueueId queue, Optional<KindId> kind) {
        return Optional.ofNullable(queues.get(queue))
                .flatMap(known -> known.quota(kind).map(quota -> use(known, quota)));
    }

    /** All quotas of a queue, in the order of its declaration. */
    public List<QuotaUse> uses(QueueId queue) {
        ClusterQueue known = queues.get(queue);
        return known == null
                ? List.of()
                : known.quotas().stream().map(quota -> use(known, quota)).toList();
    }

    private QuotaUse use(ClusterQueue queue, KindQuota quota) {
        Account account = quota(queue.queue(), quota.kind());
        double lendable = 0;
        for (ClusterQueue other : othersOfCohort(queue)) {
            for (KindQuota theirs : other.quotas()) {
                if (theirs.kind().equals(quota.kind())) {
                    double own = theirs.nominalQuota();
                    double kept = theirs.lendingLimit()
                            .map(limit -> Math.max(0, own - limit))
                            .orElse(0.0);
                    lendable += own - Math.max(quota(other.queue(), theirs.kind()).used, kept);
                }
            }
        }
        double borrowable = Math.min(quota.borrowingLimit().orElse(Double.MAX_VALUE), Math.max(0, lendable));
        return new QuotaUse(
                queue.queue(),
                quota.kind(),
                quota.nominalQuota(),
                account.used,
                account.leaving,
                quota.nominalQuota() + borrowable);
    }

    private List<ClusterQueue> othersOfCohort(ClusterQueue queue) {
        List<ClusterQueue> others = new ArrayList<>();
        if (queue.cohort().isPresent()) {
            for (ClusterQueue other : queues.values()) {
                if (other.cohort().equals(queue.cohort()) && !other.queue().equals(queue.queue())) {
                    others.add(other);
                }
            }
        }
        return others;
    }

    /**
     * The weighted share of a queue: GPUs that it has borrowed, divided by those that its cohort lends, divided by its
     * weight. The queue with the least share is the furthest from its part of those GPUs.
     *
     * @see <a href="https://kueue.sigs.k8s.io/docs/concepts/fair_sharing/">Kueue, fair sharing: share value</a>
     */
    public double weightedShare(QueueId name) {
        ClusterQueue queue = queues.get(name);
        if (queue == null || queue.cohort().isEmpty()) {
            return 0;
        }
        double borrowed = 0;
        for (KindQuota quota : queue.quotas()) {
            borrowed += use(queue, quota).borrowed();
        }
        double lent = lendable(queue);
        for (ClusterQueue other : othersOfCohort(queue)) {
            lent += lendable(other);
        }
        return lent > 0 ? borrowed / lent / queue.weight() : 0;
    }

    private double lendable(ClusterQueue queue) {
        double sum = 0;
        for (KindQuota quota : queue.quotas()) {
            double nominal = quota.nominalQuota();
            sum += Math.min(nominal, quota.lendingLimit().orElse(nominal));
        }
        return sum;
    }
}
