package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The quotas of some queues by number, in the order of the queues' names and then of their declaration. */
final class QueueAccounts {
    static final int NONE = -1;

    private final SortedMap<QueueId, ClusterQueue> queues = new TreeMap<>();
    private final List<Account> accounts = new ArrayList<>();
    private final Map<QueueId, int[]> ofQueue = new HashMap<>();
    /** The account that units of a kind count in, for each queue, once it was asked for. */
    private final Map<QueueId, Map<Optional<KindId>, Integer>> ofUnits = new HashMap<>();
    /** The accounts that each account may borrow from, once they were asked for. */
    private final List<Optional<int[]>> lenders = new ArrayList<>();

    private record Account(ClusterQueue queue, KindQuota quota) {}

    QueueAccounts(Iterable<ClusterQueue> declared) {
        for (ClusterQueue queue : declared) {
            queues.put(queue.queue(), queue);
        }
        queues.forEach((name, queue) -> {
            int[] numbers = new int[queue.quotas().size()];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = accounts.size();
                accounts.add(new Account(queue, queue.quotas().get(i)));
                lenders.add(Optional.empty());
            }
            ofQueue.put(name, numbers);
            ofUnits.put(name, new HashMap<>());
        });
    }

    int count() {
        return accounts.size();
    }

    ClusterQueue queue(int account) {
        return accounts.get(account).queue();
    }

    KindQuota quota(int account) {
        return accounts.get(account).quota();
    }

    Optional<ClusterQueue> declared(QueueId queue) {
        return Optional.ofNullable(queues.get(queue));
    }

    /** All accounts of a queue. */
    int[] of(QueueId queue) {
        return ofQueue.getOrDefault(queue, new int[0]);
    }

    /** The account that units of a kind count in; {@link #NONE} if the queue has no quota for them. */
    int of(QueueId queue, Optional<KindId> kind) {
        Map<Optional<KindId>, Integer> known = ofUnits.get(queue);
        return known == null ? NONE : known.computeIfAbsent(kind, any -> find(queue, kind));
    }

    private int find(QueueId queue, Optional<KindId> kind) {
        Optional<KindQuota> quota = declared(queue).flatMap(known -> known.quota(kind));
        for (int account : of(queue)) {
            if (quota.filter(quota(account)::equals).isPresent()) {
                return account;
            }
        }
        return NONE;
    }

    /** The accounts of the same kind that the other queues of a cohort have. */
    int[] lenders(int account) {
        Optional<int[]> known = lenders.get(account);
        if (known.isEmpty()) {
            known = Optional.of(othersOfCohort(queue(account)).stream()
                    .flatMapToInt(other -> Arrays.stream(of(other.queue())))
                    .filter(other -> quota(other).kind().equals(quota(account).kind()))
                    .toArray());
            lenders.set(account, known);
        }
        return known.get();
    }

    List<ClusterQueue> othersOfCohort(ClusterQueue queue) {
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
}
