package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.UnitCharges.Charge;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
    private final QueueAccounts accounts;
    private final UnitCharges charges;
    /** What a whole GPU counts in each account. */
    private final Charge[] whole;
    /** What counts in each account. */
    private final double[] used;
    /** The part of it that is being released. */
    private final double[] leaving;
    /** Whether a unit counted as a part of a GPU, so that sums depend on the order of their parts. */
    private boolean hasParts;
    /** Whether a unit was a MIG instance: what it counts also depends on what is known of its GPU. */
    private boolean hasInstances;

    private QueueLedger(QueueAccounts accounts, UnitCharges charges) {
        this.accounts = accounts;
        this.charges = charges;
        this.whole = new Charge[accounts.count()];
        for (int account = 0; account < whole.length; account++) {
            whole[account] = new Charge(account, 1, false);
        }
        this.used = new double[accounts.count()];
        this.leaving = new double[accounts.count()];
    }

    /** A ledger without units. */
    public QueueLedger(Iterable<ClusterQueue> declared) {
        this(new QueueAccounts(declared), new UnitCharges(0));
    }

    /** The ledger of a domain. */
    public static QueueLedger of(ClusterEntities entities) {
        QueueAccounts accounts = new QueueAccounts(
                entities.queues().stream().map(QueueState::spec).toList());
        QueueLedger ledger =
                new QueueLedger(accounts, new UnitCharges(entities.gpus().size()));
        Map<Tenant, Optional<ClusterQueue>> queues = new HashMap<>();
        Optional<Tenant> last = Optional.empty();
        Optional<KindId> kind = Optional.empty();
        int account = QueueAccounts.NONE;
        for (GpuState unit : entities.gpus().values()) {
            Optional<Tenant> tenant = unit.owner().holder();
            if (tenant.isEmpty()) {
                continue;
            }
            // The units of a tenant mostly follow one another.
            if (!tenant.equals(last) || !unit.kind().equals(kind)) {
                Optional<ClusterQueue> queue = queues.computeIfAbsent(tenant.get(), entities::queueOf);
                account = queue.isEmpty()
                        ? QueueAccounts.NONE
                        : accounts.of(queue.get().queue(), unit.kind());
                last = tenant;
                kind = unit.kind();
            }
            ledger.hasInstances |= unit.instance().isPresent();
            ledger.add(unit.gpuId(), account, gpus(entities, unit), unit.owner().isReleasing());
        }
        return ledger;
    }

    /** A copy that changes apart from this one. */
    QueueLedger copy() {
        QueueLedger copy = new QueueLedger(accounts, charges.copy());
        System.arraycopy(used, 0, copy.used, 0, used.length);
        System.arraycopy(leaving, 0, copy.leaving, 0, leaving.length);
        copy.hasParts = hasParts;
        copy.hasInstances = hasInstances;
        return copy;
    }

    /** Whether all that counts are whole GPUs, so that it is the same in whatever order they came. */
    boolean isOfWholeGpus() {
        return !hasParts && !hasInstances;
    }

    /** A unit in GPUs. A MIG instance of an unknown profile counts its memory. */
    public static double gpus(ClusterEntities entities, GpuState unit) {
        if (unit.instance().isEmpty()) {
            return 1;
        }
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
        if (hasParts) {
            QueueLedger other = new QueueLedger(accounts, new UnitCharges(0));
            charges.inOrder().forEach((unit, charge) -> {
                if (!charge.isLeaving()) {
                    other.charge(unit, charge);
                }
            });
            return other;
        }
        QueueLedger other = new QueueLedger(accounts, charges.withoutLeaving());
        for (int account = 0; account < used.length; account++) {
            other.used[account] = used[account] - leaving[account];
        }
        return other;
    }

    /** Counts a unit for its present owner only. */
    public void put(ClusterEntities entities, GpuState unit) {
        hasInstances |= unit.instance().isPresent();
        Optional<ClusterQueue> queue = unit.owner().holder().flatMap(entities::queueOf);
        int account =
                queue.isEmpty() ? QueueAccounts.NONE : accounts.of(queue.get().queue(), unit.kind());
        if (account == QueueAccounts.NONE) {
            remove(unit.gpuId());
        } else {
            add(unit.gpuId(), account, gpus(entities, unit), unit.owner().isReleasing());
        }
    }

    /** Counts a unit for a queue; not at all if the queue is not declared or has no quota for the kind. */
    public void add(GpuId unit, QueueId queue, Optional<KindId> kind, double gpus, boolean isLeaving) {
        add(unit, accounts.of(queue, kind), gpus, isLeaving);
    }

    private void add(GpuId unit, int account, double gpus, boolean isLeaving) {
        if (account != QueueAccounts.NONE) {
            boolean isUsual = gpus == 1 && !isLeaving;
            charge(unit, isUsual ? whole[account] : new Charge(account, gpus, isLeaving));
        }
    }

    private void charge(GpuId unit, Charge charge) {
        uncount(charges.put(unit, charge));
        hasParts |= charge.gpus() != Math.rint(charge.gpus());
        used[charge.account()] += charge.gpus();
        leaving[charge.account()] += charge.isLeaving() ? charge.gpus() : 0;
    }

    /** Counts a unit for no queue. */
    public void remove(GpuId unit) {
        uncount(charges.remove(unit));
    }

    private void uncount(@Nullable Charge before) {
        if (before != null) {
            used[before.account()] -= before.gpus();
            leaving[before.account()] -= before.isLeaving() ? before.gpus() : 0;
        }
    }

    /** Whether a unit counts for a queue, and is not being released. */
    public boolean keeps(GpuId unit, QueueId queue) {
        Charge charge = charges.get(unit);
        return charge != null
                && !charge.isLeaving()
                && accounts.queue(charge.account()).queue().equals(queue);
    }

    /** Whether a unit counts in the quota of a queue for a kind. */
    public boolean counts(GpuId unit, QueueId queue, Optional<KindId> kind) {
        Charge charge = charges.get(unit);
        return charge != null && charge.account() == accounts.of(queue, kind);
    }

    /** The quota of a queue for a kind; empty if it has none. */
    public Optional<QuotaUse> use(QueueId queue, Optional<KindId> kind) {
        int account = accounts.of(queue, kind);
        return account == QueueAccounts.NONE ? Optional.empty() : Optional.of(use(account));
    }

    /** All quotas of a queue, in the order of its declaration. */
    public List<QuotaUse> uses(QueueId queue) {
        List<QuotaUse> uses = new ArrayList<>();
        for (int account : accounts.of(queue)) {
            uses.add(use(account));
        }
        return uses;
    }

    private QuotaUse use(int account) {
        KindQuota quota = accounts.quota(account);
        double lendable = 0;
        for (int other : accounts.lenders(account)) {
            KindQuota theirs = accounts.quota(other);
            double own = theirs.nominalQuota();
            double kept =
                    theirs.lendingLimit().map(limit -> Math.max(0, own - limit)).orElse(0.0);
            lendable += own - Math.max(used[other], kept);
        }
        double borrowable = Math.min(quota.borrowingLimit().orElse(Double.MAX_VALUE), Math.max(0, lendable));
        return new QuotaUse(
                accounts.queue(account).queue(),
                quota.kind(),
                quota.nominalQuota(),
                used[account],
                leaving[account],
                quota.nominalQuota() + borrowable);
    }

    /**
     * The weighted share of a queue: GPUs that it has borrowed, divided by those that its cohort lends, divided by its
     * weight. The queue with the least share is the furthest from its part of those GPUs.
     *
     * @see <a href="https://kueue.sigs.k8s.io/docs/concepts/fair_sharing/">Kueue, fair sharing: share value</a>
     */
    public double weightedShare(QueueId name) {
        Optional<ClusterQueue> queue = accounts.declared(name);
        if (queue.isEmpty() || queue.get().cohort().isEmpty()) {
            return 0;
        }
        double borrowed = 0;
        for (int account : accounts.of(name)) {
            borrowed += use(account).borrowed();
        }
        double lent = lendable(queue.get());
        for (ClusterQueue other : accounts.othersOfCohort(queue.get())) {
            lent += lendable(other);
        }
        return lent > 0 ? borrowed / lent / queue.get().weight() : 0;
    }

    private static double lendable(ClusterQueue queue) {
        double sum = 0;
        for (KindQuota quota : queue.quotas()) {
            double nominal = quota.nominalQuota();
            sum += Math.min(nominal, quota.lendingLimit().orElse(nominal));
        }
        return sum;
    }
}
