package io.lendstream.core.scheduler;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Shares the GPUs of a kind among queues. First each queue gets what it must keep, then its nominal quota as far as its
 * jobs can use it, then a part of the rest by its weight. A queue borrows only what its cohort lends.
 *
 * <p>If there are too few GPUs for all nominal quotas, each queue gets the same part of its own.
 */
final class QueueShares {
    private static final double ROUNDING = 1e-6;

    private final List<Asker> askers;
    private final int[] shares;
    /** What the queues of a cohort lend and do not use, by cohort. */
    private final Map<String, Double> lendable = new HashMap<>();

    /**
     * The quota of a queue for a kind.
     *
     * @param cohort the queues that it borrows from; empty to borrow nothing
     * @param borrowingLimit most GPUs beyond the nominal quota
     * @param unlent GPUs of the nominal quota that others may not borrow
     * @param otherUse GPUs that the queue uses beside those to share
     */
    record Quota(Optional<String> cohort, double nominal, double borrowingLimit, double unlent, double otherUse) {
        /** What it lends while it uses so many of the shared GPUs. */
        private double lent(int share) {
            return nominal - Math.max(otherUse + share, unlent);
        }
    }

    /**
     * The jobs of a queue, or those without a queue.
     *
     * @param fixed GPUs that they must keep
     * @param useful most GPUs that they can use
     * @param nominal the part of the nominal quota that they can use
     * @param quota empty for jobs without a queue, which may use all that is left
     */
    record Asker(int fixed, int nominal, int useful, double weight, Optional<Quota> quota) {
        /** The same if its jobs can use no more than so many GPUs. */
        Asker using(int most) {
            return new Asker(fixed, Math.min(most, nominal), most, weight, quota);
        }
    }

    private QueueShares(List<Asker> askers, List<Quota> others) {
        this.askers = askers;
        this.shares = new int[askers.size()];
        others.forEach(quota -> lend(quota, quota.lent(0)));
        askers.forEach(asker -> asker.quota().ifPresent(quota -> lend(quota, quota.lent(0))));
    }

    private void lend(Quota quota, double gpus) {
        quota.cohort().ifPresent(cohort -> lendable.merge(cohort, gpus, Double::sum));
    }

    /**
     * Shares GPUs.
     *
     * @param others the quotas of queues that ask for none
     */
    static QueueShares of(int gpus, List<Asker> askers, List<Quota> others) {
        QueueShares shares = new QueueShares(List.copyOf(askers), others);
        int left = gpus;
        for (int i = 0; i < askers.size(); i++) {
            shares.set(i, askers.get(i).fixed());
            left -= askers.get(i).fixed();
        }
        left = shares.fill(
                left,
                i -> shares.shares[i] < askers.get(i).nominal(),
                i -> (shares.shares[i] + 1) / Math.max(ROUNDING, shares.nominal(i)));
        shares.fill(
                left,
                i -> shares.shares[i] < askers.get(i).useful() && shares.room(i) > 0,
                i -> shares.borrowed(i, 1) / askers.get(i).weight());
        return shares;
    }

    /**
     * Gives one GPU after the other to the asker with the least rank; returns how many are left. A rank changes only
     * with the asker's own GPUs, and an asker that may not have another one never may again.
     */
    private int fill(int gpus, IntPredicate mayHave, IntToDoubleFunction rank) {
        PriorityQueue<Turn> turns = new PriorityQueue<>(Turn.ORDER);
        for (int i = 0; i < shares.length; i++) {
            turns.add(new Turn(rank.applyAsDouble(i), i));
        }
        int left = gpus;
        while (left > 0 && !turns.isEmpty()) {
            Turn next = turns.remove();
            if (next.rank < Double.POSITIVE_INFINITY && mayHave.test(next.asker)) {
                set(next.asker, shares[next.asker] + 1);
                turns.add(new Turn(rank.applyAsDouble(next.asker), next.asker));
                left--;
            }
        }
        return left;
    }

    /** The place of an asker among those that wait for a GPU; of equal ones, the first asker comes first. */
    private record Turn(double rank, int asker) {
        private static final Comparator<Turn> ORDER =
                Comparator.comparingDouble(Turn::rank).thenComparingInt(Turn::asker);
    }

    private double nominal(int asker) {
        return askers.get(asker).quota().map(Quota::nominal).orElse(0.0);
    }

    /** GPUs beyond the nominal quota with some more; all GPUs of an asker without a quota. */
    private double borrowed(int asker, int more) {
        int share = shares[asker] + more;
        return askers.get(asker)
                .quota()
                .map(quota -> Math.max(0, quota.otherUse() + share - quota.nominal()))
                .orElse((double) share);
    }

    /** The share of an asker. */
    int get(int asker) {
        return shares[asker];
    }

    /** An asker uses another number of GPUs. */
    void set(int asker, int gpus) {
        askers.get(asker).quota().ifPresent(quota -> lend(quota, quota.lent(gpus) - quota.lent(shares[asker])));
        shares[asker] = gpus;
    }

    /** How many more GPUs the quota of an asker allows. */
    int room(int asker) {
        Optional<Quota> quota = askers.get(asker).quota();
        if (quota.isEmpty()) {
            return Integer.MAX_VALUE;
        }
        double ofOthers = quota.get()
                .cohort()
                .map(cohort -> lendable.getOrDefault(cohort, 0.0) - quota.get().lent(shares[asker]))
                .orElse(0.0);
        double most = quota.get().nominal() + Math.min(quota.get().borrowingLimit(), Math.max(0, ofOthers));
        return (int) Math.max(
                0, Math.min(Integer.MAX_VALUE, Math.floor(most - quota.get().otherUse() - shares[asker] + ROUNDING)));
    }

    /**
     * The askers in the order of their plans, as later ones may get what earlier ones leave: first those that have all
     * that they can use, then those within their nominal quota.
     */
    List<Integer> order() {
        return IntStream.range(0, shares.length)
                .boxed()
                .sorted(Comparator.comparingInt(this::turn))
                .toList();
    }

    private int turn(int asker) {
        if (shares[asker] >= askers.get(asker).useful()) {
            return 0;
        }
        return borrowed(asker, 0) <= ROUNDING ? 1 : 2;
    }
}
