package io.lendstream.core.batching;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * One instance that answers requests in batches, played event by event: as soon as it is free it takes what waits, up to its largest
 * batch, in order of arrival.
 *
 * @param latency what batches really take
 * @param mostBatch most that it takes at once
 * @param noise standard deviation of the logarithm of a batch's time
 */
public record BatchServer(BatchLatency latency, int mostBatch, double noise) {
    private static final double WARM_UP = .05;

    /**
     * What came of it.
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
        double[] arrivals = new double[requests];
        double at = 0;
        for (int i = 0; i < requests; i++) {
            at += gamma(random, 1 / cv2) * cv2 * 1000 / ratePerSecond;
            arrivals[i] = at;
        }
        double[] taken = new double[requests];
        double now = 0;
        double busy = 0;
        int next = 0;
        while (next < requests) {
            now = Math.max(now, arrivals[next]);
            int end = next;
            while (end < requests && end - next < mostBatch && arrivals[end] <= now) {
                end++;
            }
            double lasts = latency.millis(end - next) * Math.exp(noise * gaussian(random));
            now += lasts;
            busy += lasts;
            for (; next < end; next++) {
                taken[next] = now - arrivals[next];
            }
        }
        double[] counted = Arrays.copyOfRange(taken, (int) (WARM_UP * requests), requests);
        Arrays.sort(counted);
        long late = Arrays.stream(counted).filter(millis -> millis > sloMillis).count();
        return new Outcome(counted[(int) (.99 * counted.length)], (double) late / counted.length, busy / now);
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
