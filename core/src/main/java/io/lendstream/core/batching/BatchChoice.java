package io.lendstream.core.batching;

import java.util.Arrays;

/**
 * Chooses the next batch of an instance: all requests of the bucket with the oldest request. Requests of another bucket
 * join, padded to the larger size, if that takes less than half of the time of their own batch. Larger batches use the
 * instance better, but with tight objectives there is no time for a batch of every bucket.
 *
 * <p>Smaller batches that keep the oldest request in time made no measurable difference. The least slack instead of the
 * greatest age gave 0.5 % less at mixes of four buckets.
 *
 * @param mix with the predicted times of batches
 */
record BatchChoice(Mix mix) {
    private static final double WORTH = .5;

    /**
     * The next batch.
     *
     * @param heads when the oldest request of each bucket came
     * @param ready requests that are there, by bucket, at most as many as make a batch; above 0 in one at least
     * @param taken receives how many of each bucket are in the batch
     * @return the bucket to whose size all are padded
     */
    int next(double[] heads, int[] ready, int[] taken) {
        Arrays.fill(taken, 0);
        int edge = -1;
        for (int bucket = 0; bucket < ready.length; bucket++) {
            if (ready[bucket] > 0 && (edge < 0 || heads[bucket] < heads[edge])) {
                edge = bucket;
            }
        }
        taken[edge] = ready[edge];
        int batch = ready[edge];
        for (int other = ready.length - 1; other >= 0; other--) {
            if (taken[other] > 0 || ready[other] == 0) {
                continue;
            }
            int larger = Math.max(edge, other);
            int together = batch + ready[other];
            if (together <= latency(larger).largestBatch()
                    && latency(larger).millis(together)
                            < latency(edge).millis(batch)
                                    + WORTH * latency(other).millis(ready[other])) {
                taken[other] = ready[other];
                batch = together;
                edge = larger;
            }
        }
        return edge;
    }

    private BatchLatency latency(int bucket) {
        return mix.parts().get(bucket).latency();
    }
}
