package io.lendstream.core.batching;

import io.lendstream.core.decision.Bucket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * Proposes the batching of a service from the learned times of its batches.
 *
 * <ul>
 *   <li><b>Buckets</b> by input size, where sizes differ, as {@link Bucketizer} finds them.
 *   <li><b>Batches</b> are as large as leaves a request in time that just misses one:
 *       {@code 1.12 * 2 l(b) <= objective}, the formula of {@link Capacity}. After late windows {@link BatchingGuard}
 *       makes them smaller, but never so small that the instance would be busy for more than 70 % of the time, as
 *       learned: an instance that cannot keep up makes all requests late, and needs more replicas, not smaller batches.
 *   <li><b>Delay</b>: how long a request may wait for company, in whole milliseconds. Waiting makes batches larger and
 *       so saves computing, which is worth something only where an instance is idle half of the time; a busier one
 *       finds the next batch waiting anyway. It is the least of
 *       <ul>
 *         <li>a quarter of the slack, {@code objective - 1.12 (l(b99) + longest l(b99))} at the present rate, times
 *             {@code 1 - 2 busy} where {@code busy} is the share of time that requests one by one would take. While it
 *             waits, company comes that makes its batch and the one before longer by {@code busy} of the delay at most,
 *             so that all of it costs less than {@code (1 + 1.12) / 4 = 53 %} of the slack;
 *         <li>the time in which the batch becomes so large that an input costs no more than 5 % above what it costs in
 *             the largest;
 *       </ul>
 *       and none where that would save less than 5 % of the computing, or the service was late in the last five
 *       minutes.
 * </ul>
 *
 * @param objective within which 99 of 100 requests are to be answered
 * @param ratePerSecond of requests to one instance
 * @param sizes of inputs; empty where they are all alike
 * @param largest input; the last bucket's end
 * @param latency of an instance by the size of inputs, with margins; its largest batches are those that its memory is
 *     thought to hold, which no batch exceeds but one that is in force
 */
public record BatchingRule(
        Duration objective, double ratePerSecond, SizeHistogram sizes, int largest, IntFunction<BatchLatency> latency) {
    /** More are hardly worth it, for each has to wait its turn on the same instance. */
    private static final int MOST_BUCKETS = 4;

    private static final double JUST_MISSED = 1.12 * 2;
    private static final double MOST_BUSY = .7;
    private static final double SHARE_STEP = .05;
    private static final double LEAST_SHARE = .1;
    private static final double OF_SLACK = .25;
    private static final double SAVING = .05;
    /** So that a whole batch is not lost to rounding. */
    private static final double ROUNDING = 1e-9;

    /** Batches grow only where they are in time by this much more, lest they change with every report. */
    private static final double TO_GROW = 1.03;

    private static final double MATERIAL = .1;
    private static final double MATERIAL_DELAY = .25;
    private static final long LEAST_DELAY_CHANGE = 2;

    /**
     * The proposal of the rule.
     *
     * @param guard after the comparison of the p99 with the objective
     * @param isMaterial whether it differs enough from the setting in force: in its buckets, in a batch by a tenth, in
     *     a delay by a quarter and 2 ms; in any part after a late window, and when windows are in time again. Before
     *     the first decision: whether batches have run that are half as large as can be in time, or the service was
     *     late; until then servers keep their own settings
     */
    public record Proposal(List<Bucket> buckets, BatchingGuard guard, boolean isMaterial) {
        public Proposal {
            buckets = List.copyOf(buckets);
        }
    }

    /** Requests of one bucket. */
    private record Lane(int upTo, BatchLatency latency, double perMilli, int most, boolean isBoundByTime) {
        int batch(double share) {
            return (int) Math.max(1, Math.floor(share * most * (1 + ROUNDING)));
        }

        /** Milliseconds that an input costs in a batch. */
        double each(double batch) {
            return latency.millis(batch) / batch;
        }

        double busy(double batch) {
            return perMilli * each(batch);
        }

        /** Exceeded once in a hundred times if only requests of this bucket came. */
        double p99Millis() {
            return Capacity.at(latency, 1000 * perMilli, 1).p99Millis();
        }
    }

    /**
     * The next buckets, batches and delays.
     *
     * @param inForce the setting in force; empty before the first
     * @param guard the results since then
     */
    public Proposal next(List<Bucket> inForce, BatchingGuard guard, Instant now) {
        boolean late = guard.isLate(objective);
        List<Lane> lanes = lanes(inForce, guard.share() == 1);
        int largestBatch = lanes.stream().mapToInt(Lane::most).max().orElse(1);
        BatchingGuard judged =
                guard.judged(objective, largestBatch, shareInForce(lanes, inForce), leastShare(lanes), now);
        List<Bucket> buckets = lanes.stream()
                .map(lane -> {
                    int batch = lane.batch(judged.share());
                    long millis = judged.isCalm(now) ? delayMillis(lane, batch, lanes) : 0;
                    return new Bucket(lane.upTo, batch, Duration.ofMillis(millis));
                })
                .toList();
        boolean isMaterial = inForce.isEmpty()
                ? late || lanes.stream().anyMatch(Lane::isBoundByTime)
                : isMaterial(inForce, buckets, late || (guard.share() < 1 && judged.share() == 1));
        return new Proposal(buckets, judged, isMaterial);
    }

    /**
     * The buckets.
     *
     * @param steady whether batches in force are as large as the model allowed
     */
    private List<Lane> lanes(List<Bucket> inForce, boolean steady) {
        List<Lane> lanes = new ArrayList<>();
        double below = 0;
        for (int edge : edges(inForce)) {
            double upTo = edge == largest ? sizes.total() : sizes.upTo(edge);
            double share = sizes.total() > 0 ? (upTo - below) / sizes.total() : 1;
            below = upTo;
            BatchLatency batches = latency.apply(edge);
            int before = before(inForce, edge);
            int bound = Math.max(before, batches.largestBatch());
            int most = inTime(batches, bound, 1);
            if (steady && most > before && before > 0) {
                most = Math.max(before, inTime(batches, bound, TO_GROW));
            }
            lanes.add(new Lane(edge, batches, share * ratePerSecond / 1000, most, most < bound));
        }
        return lanes;
    }

    /** The batch in force of inputs of a size, or as much work as is in force; 0 where nothing is. */
    private static int before(List<Bucket> inForce, int size) {
        for (Bucket bucket : inForce) {
            if (bucket.upToSize() >= size) {
                return bucket.maxBatch();
            }
        }
        if (inForce.isEmpty()) {
            return 0;
        }
        Bucket last = inForce.get(inForce.size() - 1);
        return (int) Math.max(1, last.maxBatch() * last.upToSize() / size);
    }

    private List<Integer> edges(List<Bucket> inForce) {
        if (sizes.bars().size() < 2) {
            return List.of(largest);
        }
        Map<Integer, Double> costs = new TreeMap<>();
        Bucketizer bucketizer =
                new Bucketizer(size -> costs.computeIfAbsent(size, this::leastCost), largest, MOST_BUCKETS);
        return bucketizer.next(
                sizes, inForce.stream().map(bucket -> (int) bucket.upToSize()).toList());
    }

    /** What an input of a size costs in the largest batch. */
    private double leastCost(int size) {
        BatchLatency batches = latency.apply(size);
        int most = inTime(batches, batches.largestBatch(), 1);
        return batches.millis(most) / most;
    }

    /**
     * The largest batch with which a request that just misses one is in time, even if it took longer by a factor; at
     * least 1.
     */
    private int inTime(BatchLatency batches, int bound, double longer) {
        int low = 1;
        int high = bound + 1;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (JUST_MISSED * longer * batches.millis(middle) <= objective.toMillis()) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The batches in force as a share of the batches that the model allows: the least of all buckets, at most 1. */
    private static double shareInForce(List<Lane> lanes, List<Bucket> inForce) {
        return lanes.stream()
                .filter(lane -> before(inForce, lane.upTo) > 0)
                .mapToDouble(lane -> (double) before(inForce, lane.upTo) / lane.most)
                .reduce(1, Math::min);
    }

    /** The share of the largest batches with which the instance keeps up with its requests; 1 where it does not. */
    private static double leastShare(List<Lane> lanes) {
        double share = LEAST_SHARE;
        while (share < 1 && busy(lanes, share) > MOST_BUSY) {
            share = Math.min(1, share + SHARE_STEP);
        }
        return share;
    }

    private static double busy(List<Lane> lanes, double share) {
        return lanes.stream().mapToDouble(lane -> lane.busy(lane.batch(share))).sum();
    }

    private long delayMillis(Lane lane, int batch, List<Lane> lanes) {
        double longest = lanes.stream().mapToDouble(Lane::p99Millis).max().orElse(0);
        double slack = objective.toMillis() - (lane.p99Millis() + longest) / 2;
        double idle = 1 - 2 * lanes.stream().mapToDouble(other -> other.busy(1)).sum();
        if (!(slack > 0 && idle > 0 && lane.perMilli > 0)) {
            return 0;
        }
        double most = Math.min(OF_SLACK * slack * idle, (worthwhile(lane, batch) - 1) / lane.perMilli);
        double expected = Math.min(batch, 1 + lane.perMilli * most);
        return lane.each(expected) <= (1 - SAVING) * lane.each(1) ? (long) most : 0;
    }

    /** About the smallest batch in which an input costs hardly more than in the largest. */
    private static int worthwhile(Lane lane, int batch) {
        int enough = 1;
        while (enough < batch && lane.each(enough) > (1 + SAVING) * lane.each(batch)) {
            enough += 1 + enough / 4;
        }
        return Math.min(enough, batch);
    }

    /**
     * Whether there is enough of a difference.
     *
     * @param any whether any will do
     */
    private static boolean isMaterial(List<Bucket> was, List<Bucket> next, boolean any) {
        if (was.size() != next.size()) {
            return true;
        }
        for (int i = 0; i < was.size(); i++) {
            Bucket old = was.get(i);
            Bucket bucket = next.get(i);
            int batches = Math.abs(bucket.maxBatch() - old.maxBatch());
            long delay = old.maxQueueDelay().toMillis();
            long delays = Math.abs(bucket.maxQueueDelay().toMillis() - delay);
            if (old.upToSize() != bucket.upToSize()
                    || batches >= Math.max(1, MATERIAL * old.maxBatch())
                    || delays >= Math.max(LEAST_DELAY_CHANGE, MATERIAL_DELAY * delay)
                    || (any && !old.equals(bucket))) {
                return true;
            }
        }
        return false;
    }
}
