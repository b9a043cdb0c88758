package io.lendstream.core.policy.jct;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Limits;
import io.lendstream.core.policy.JobView;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What GPUs are worth to jobs if these are to end soonest on average: the sum of speedups over one GPU, each weighed
 * by the reduction of the sum of completion times for each second of the job's work.
 *
 * <p>For jobs whose speedup on {@code n} GPUs is {@code n^scaling}, and none to come, that reduction is known:
 * {@code (i^p - (i-1)^p)^(1/p)} with {@code p = 1 / (1 - scaling)} for the job that is {@code i}-th from the longest.
 * So short jobs go first the more, the better jobs scale. Here each job has its own speedup, and only the weights
 * assume a common one.
 *
 * <p>A change of GPUs counts only for the rest of the {@code payback} time, or of the job if that is shorter, after its
 * pause. A job that is changed often has less time: what a change gains ends with the next one. A start cannot be
 * avoided, so it counts over the rest of the job.
 *
 * @param scaling exponent of the speedup that weights assume; from 0, at which all jobs count alike, to 0.95
 * @param payback within which a change has to pay, at most
 * @see <a href="https://arxiv.org/abs/1903.09346">Berg, Vesilo, Harchol-Balter: "heSRPT: Optimal Parallel Scheduling of
 *     Jobs With Known Sizes", 2019</a>
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, on goodput and
 *     restarts</a>
 */
public record JctObjective(double scaling, Duration payback) {
    /** With more the powers in weights of thousands of jobs are no numbers any more. */
    private static final double MOST_SCALING = 0.95;

    /** Every size is weighed up to this one, then multiples of it and the largest. */
    private static final int EACH_UP_TO = 64;
    /** The most GPUs of one job that are weighed, unless it needs more to start. */
    private static final int MOST = 1024;

    /** A new job is expected to be changed as if it had been so often before, each time after the payback time. */
    private static final int USUAL_CHANGES = 5;

    /** The weights of jobs by the seconds of work that remain on one GPU; of equal jobs the first weighs most. */
    public double[] weights(double[] remaining) {
        List<Integer> longestFirst = IntStream.range(0, remaining.length)
                .boxed()
                .sorted(Comparator.<Integer>comparingDouble(i -> -remaining[i])
                        .thenComparing(Comparator.reverseOrder()))
                .toList();
        double[] weights = new double[remaining.length];
        for (int rank = 1; rank <= weights.length; rank++) {
            weights[longestFirst.get(rank - 1)] = weight(rank);
        }
        return weights;
    }

    /** By how much all completion times together shrink for each second of work done for the job at a rank. */
    private double weight(int rank) {
        double power = 1 / (1 - scaling);
        return Math.pow(Math.pow(rank, power) - Math.pow(rank - 1, power), 1 - scaling);
    }

    /**
     * The same objective, if its settings mean something.
     *
     * @param policy the name of the policy that has them
     * @throws IllegalArgumentException if they do not
     */
    public JctObjective checked(String policy) {
        if (!(scaling >= 0 && scaling <= MOST_SCALING)) {
            throw new IllegalArgumentException("scaling of policy %s must be at least 0 and at most %s, but was %s"
                    .formatted(policy, MOST_SCALING, scaling));
        }
        return this;
    }

    /** The largest number of GPUs that is weighed for a job. */
    static int most(JobView job, int capacity) {
        return Math.min(Math.min(capacity, job.most()), Math.max(MOST, job.least()));
    }

    /** What a job is worth by its number of GPUs at a time; of the kind that it has, or any kind if it has none. */
    public double[] values(JobView job, int capacity, double weight, double alone, Instant now) {
        return values(job, capacity, weight, alone, now, false);
    }

    /** @param restarts whether it runs on GPUs that the view does not show, and has to give them up for these */
    double[] values(JobView job, int capacity, double weight, double alone, Instant now, boolean restarts) {
        double[] values = new double[most(job, capacity) + 1];
        Arrays.fill(values, 1, values.length, Double.NEGATIVE_INFINITY);
        int held = job.gpus().size();
        int most = job.fit(values.length - 1);
        double horizon = horizon(job, now);
        for (int w = Math.max(1, job.least()); w < values.length; w++) {
            if (isWeighed(job, w, held, most)) {
                double remaining = job.pace().remainingSeconds(w);
                double within = held == 0 && !restarts ? Double.POSITIVE_INFINITY : horizon;
                values[w] = weight * alone / remaining * left(job, held, w, remaining, within);
            }
        }
        return values;
    }

    /** What it costs to stop a job that holds GPUs: the start that it needs later, in the payback time. */
    double stop(JobView job, double weight, double alone) {
        int held = job.gpus().size();
        if (held == 0) {
            return 0;
        }
        double speed = alone / job.pace().remainingSeconds(held);
        return weight * speed * Math.min(1, pause(job.costs(), 0, held) / seconds(payback));
    }

    private static boolean isWeighed(JobView job, int gpus, int held, int most) {
        boolean isUsual =
                gpus <= EACH_UP_TO || gpus % EACH_UP_TO == 0 || gpus == held || gpus == job.least() || gpus == most;
        return isUsual && job.allows(gpus);
    }

    /**
     * Share of the time in which a change has to pay, or of the job, in which it trains after the change.
     *
     * @param horizon seconds in which it has to pay; without end for a start
     */
    private double left(JobView job, int from, int to, double remaining, double horizon) {
        if (from == to) {
            return 1;
        }
        double pause = pause(job.costs(), from, to);
        double whole = known(job, remaining) + pause;
        return Math.max(0, 1 - pause / Math.min(horizon, whole));
    }

    /** Seconds in which a change of a job has to pay: the usual time between its changes, or the payback time. */
    private double horizon(JobView job, Instant now) {
        double most = seconds(payback);
        double usual = (USUAL_CHANGES * most + seconds(job.age(now))) / (USUAL_CHANGES + job.changes());
        return Math.min(most, usual);
    }

    /** The remaining time; of a job whose total is not known, no less than the time in which a change has to pay. */
    private double known(JobView job, double remaining) {
        return job.pace().isTotalKnown() ? remaining : Math.max(seconds(payback), remaining);
    }

    /** Seconds without training that a change costs. */
    static double pause(RescaleCosts costs, int from, int to) {
        return Limits.millis(costs.delay(from, to, true)) / 1000.0;
    }

    private static double seconds(Duration time) {
        return Limits.millis(time) / 1000.0;
    }
}
