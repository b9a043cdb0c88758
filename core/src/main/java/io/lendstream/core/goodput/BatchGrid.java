package io.lendstream.core.goodput;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The batches that Pollux chooses from: 50 total batches in geometric steps, split over GPUs as their memory allows.
 * Those that come to the same split are one.
 *
 * <p>Remembers what it worked out; not for several threads.
 */
public final class BatchGrid {
    private static final int POINTS = 50;

    private final BatchRange range;
    private final Map<Integer, Row> rows = new HashMap<>();

    /** A grid over a range; a fixed batch in it is not looked at. */
    public BatchGrid(BatchRange range) {
        this.range = range;
    }

    public BatchRange range() {
        return range;
    }

    /** The batches for a number of GPUs, the smallest first. */
    static final class Row {
        private final List<Batch> batches;
        private final double[] totals;

        private Row(List<Batch> batches, int replicas) {
            this.batches = List.copyOf(batches);
            this.totals =
                    batches.stream().mapToDouble(batch -> batch.total(replicas)).toArray();
        }

        int size() {
            return totals.length;
        }

        Batch batch(int index) {
            return batches.get(index);
        }

        /** Samples of all GPUs together. */
        double total(int index) {
            return totals[index];
        }
    }

    Row row(int replicas) {
        return rows.computeIfAbsent(replicas, this::made);
    }

    private Row made(int replicas) {
        double least = Math.max(range.initial(), (double) range.localMin() * replicas);
        double most = Math.max(least, range.max());
        List<Batch> batches = new ArrayList<>();
        for (int i = 0; i < POINTS; i++) {
            double total = i == POINTS - 1 ? most : least * Math.pow(most / least, i / (POINTS - 1.0));
            Batch batch = GoodputModel.split(range, total, replicas);
            boolean fits = batch.local() >= range.localMin() && batch.local() <= range.localMax();
            if (fits && (batches.isEmpty() || !batches.get(batches.size() - 1).equals(batch))) {
                batches.add(batch);
            }
        }
        if (batches.isEmpty()) {
            batches.add(GoodputModel.split(range, least, replicas));
        }
        return new Row(batches, replicas);
    }
}
