package io.lendstream.core.batching;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * One instance that answers requests in batches, played event by event. As soon as it is free it takes a batch, as
 * {@link BatchChoice} says.
 *
 * @param mix what batches really take
 * @param noise standard deviation of the logarithm of a batch's time
 */
public record BatchServer(Mix mix, double noise) {
    private static final double WARM_UP = .05;

    /**
     * The outcome of a simulation.
     *
     * @param p99Millis from arrival to answer
     * @param late share of requests that took longer than the objective
     * @param busy share of time in which the instance computed
     */
    public record Outcome(double p99Millis, double late, double busy) {}

    /**
     * Answers requests that arrive at random.
     *
     * @param ratePerSecond of arrivals
     * @param cv2 squared coefficient of variation of the times between them: 1 for Poisson, more for bursts; Gamma
     * @param requests how many; the first twentieth is not counted
     */
    public Outcome play(double ratePerSecond, double cv2, int requests, double sloMillis, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int buckets = mix.parts().size();
        Arrivals all = arrivals(random, ratePerSecond, cv2, requests);
        double[][] arrivals = all.millis;
        int[] came = all.came;
        BatchChoice choice = new BatchChoice(mix);
        int[] batch = new int[buckets];
        double[] taken = new double[requests];
        int answered = 0;
        int[] next = new int[buckets];
        int[] ready = new int[buckets];
        double[] heads = new double[buckets];
        double now = 0;
        double busy = 0;
        while (true) {
            double first = Double.POSITIVE_INFINITY;
            for (int bucket = 0; bucket < buckets; bucket++) {
                heads[bucket] = next[bucket] < came[bucket] ? arrivals[bucket][next[bucket]] : Double.POSITIVE_INFINITY;
                first = Math.min(first, heads[bucket]);
            }
            if (first == Double.POSITIVE_INFINITY) {
                break;
            }
            now = Math.max(now, first);
            for (int bucket = 0; bucket < buckets; bucket++) {
                int until = next[bucket] + ready[bucket];
                int most = Math.min(
                        came[bucket],
                        next[bucket] + mix.parts().get(bucket).latency().largestBatch());
                while (until < most && arrivals[bucket][until] <= now) {
                    until++;
                }
                ready[bucket] = until - next[bucket];
            }
            int edge = choice.next(heads, ready, batch);
            int size = Arrays.stream(batch).sum();
            double lasts = mix.parts().get(edge).latency().millis(size) * Math.exp(noise * gaussian(random));
            now += lasts;
            busy += lasts;
            for (int bucket = 0; bucket < buckets; bucket++) {
                for (int i = 0; i < batch[bucket]; i++) {
                    double arrival = arrivals[bucket][next[bucket]++];
                    if (arrival >= all.counted) {
                        taken[answered++] = now - arrival;
                    }
                }
                ready[bucket] -= batch[bucket];
            }
        }
        double[] sorted = Arrays.copyOf(taken, answered);
        Arrays.sort(sorted);
        long late = Arrays.stream(sorted).filter(millis -> millis > sloMillis).count();
        return new Outcome(sorted[(int) (.99 * answered)], (double) late / answered, busy / now);
    }

    /** When requests arrive in each bucket, how many do, and from when on they are counted; in milliseconds. */
    private static final class Arrivals {
        private final double[][] millis;
        private final int[] came;
        private double counted;

        Arrivals(int buckets, int requests) {
            millis = new double[buckets][requests];
            came = new int[buckets];
        }
    }

    private Arrivals arrivals(SplittableRandom random, double ratePerSecond, double cv2, int requests) {
        var arrivals = new Arrivals(mix.parts().size(), requests);
        double at = 0;
        for (int i = 0; i < requests; i++) {
            at += gamma(random, 1 / cv2) * cv2 * 1000 / ratePerSecond;
            int bucket = bucket(random);
            arrivals.millis[bucket][arrivals.came[bucket]++] = at;
            arrivals.counted = i == (int) (WARM_UP * requests) ? at : arrivals.counted;
        }
        return arrivals;
    }

    private int bucket(SplittableRandom random) {
        int last = mix.parts().size() - 1;
        if (last == 0) {
            return 0;
        }
        double draw = random.nextDouble();
        int bucket = 0;
        while (bucket < last && draw >= mix.parts().get(bucket).share()) {
            draw -= mix.parts().get(bucket++).share();
        }
        return bucket;
    }

    /** A Gamma variable of a shape and scale 1, by Marsaglia and Tsang (2000). */
    private static double gamma(SplittableRandom random, double shape) {
        if (shape == 1) {
            return -Math.log(1 - random.nextDouble());
        }
        if (shape < 1) {
            return gamma(random, shape + 1) * Math.pow(1 - random.nextDouble(), 1 / shape);
        }
        double d = shape - 1 / 3.0;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = gaussian(random);
            double v = Math.pow(1 + c * x, 3);
            if (v > 0 && Math.log(1 - random.nextDouble()) < x * x / 2 + d - d * v + d * Math.log(v)) {
                return d * v;
            }
        }
    }

    private static double gaussian(SplittableRandom random) {
        return Math.sqrt(-2 * Math.log(1 - random.nextDouble())) * Math.cos(2 * Math.PI * random.nextDouble());
    }
}
