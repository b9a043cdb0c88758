package io.lendstream.core.batching;

/**
 * The requests per second that one instance answers so that 99 of 100 are in time.
 *
 * <p>The instance takes whatever waits as its next batch as soon as it is free. Batches then settle at the size
 * {@code b} that arrives during one: {@code b = rate l(b)}. They vary, the more the closer the instance is to what it
 * can do at all, for a large one makes its successor large, and the more the burstier requests arrive. With
 * {@code rho}, by how much a batch more now makes the next one larger, and {@code cv2}, the squared coefficient of
 * variation of the times between requests (1 for Poisson),
 *
 * <pre>
 * b99 = b + (cv2 - 1) + 2.33 sqrt(b cv2 / (1 - rho^2)) + 0.74 (2 cv2 - 1)
 * p99 = 1.12 * 2 l(b99)
 * </pre>
 *
 * for a request that has just missed a batch waits for that and is served in the next. The second term counts those
 * that come in the same burst; the last is how lopsided such batches are (Cornish and Fisher, of a negative binomial).
 * The factor 1.12 is what simulations give above the rest. The rule that many systems use, twice the latency of the
 * chosen batch within the objective, leaves no room for batches to vary: at the rate that it promises, the p99 is often
 * half as much again as the objective.
 *
 * <p>The formula errs on the side of caution, and for bursts near saturation on the other; {@link #played} makes sure.
 *
 * @param ratePerSecond at most; 0 where not even single requests are in time
 * @param p99Millis expected at that rate; 0 without a rate
 */
public record Capacity(double ratePerSecond, double p99Millis) {
    public static final Capacity NONE = new Capacity(0, 0);

    private static final double QUANTILE_99 = 2.33;
    private static final double ABOVE_FORMULA = 1.12;
    private static final double MOST_LOAD = .995;
    private static final double PRECISION = 1e-4;
    private static final double SLOPE_OVER = .05;
    private static final int STEPS = 4;
    private static final int PLAYED_REQUESTS = 40_000;
    private static final double PLAYED_PRECISION = .02;
    private static final double BELOW_OBJECTIVE = .93;
    private static final double RAISED = 1.1;
    private static final double SKEW = (QUANTILE_99 * QUANTILE_99 - 1) / 6;

    /**
     * The highest rate that an instance can take.
     *
     * @param sloMillis within which 99 of 100 requests are to be answered
     * @param cv2 squared coefficient of variation of the times between requests; 1 for Poisson
     * @param load greatest share of the instance's rate with largest batches, above 0, at most 1; less than 1 keeps a
     *     reserve
     */
    public static Capacity of(BatchLatency latency, double sloMillis, double cv2, double load) {
        double high = load * MOST_LOAD * 1000 * latency.largestBatch() / latency.millis(latency.largestBatch());
        if (!isFeasible(latency, PRECISION, sloMillis, cv2)) {
            return NONE;
        }
        double low = isFeasible(latency, high, sloMillis, cv2) ? high : PRECISION;
        while (high - low > PRECISION * high) {
            double middle = (low + high) / 2;
            if (isFeasible(latency, middle, sloMillis, cv2)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return at(latency, low, cv2);
    }

    /**
     * An estimate of the highest rate: each bucket takes its share of the rate that the instance would reach with it
     * alone.
     */
    static Capacity of(Mix mix, double sloMillis, double cv2, double load) {
        double inverse = 0;
        for (Mix.Part part : mix.parts()) {
            inverse += part.share() / of(part.latency(), sloMillis, cv2, load).ratePerSecond();
        }
        return Double.isInfinite(inverse) ? NONE : new Capacity(1 / inverse, sloMillis);
    }

    /**
     * The most that an instance can be given by playing it: a rate is tried, and raised or lowered until the p99 is
     * just below the objective. A pure function, as chance is the same each time.
     *
     * @param noise standard deviation of the logarithm of a batch's time
     */
    public static Capacity played(Mix mix, double sloMillis, double cv2, double load, double noise) {
        Capacity estimate = of(mix, sloMillis, cv2, load);
        if (estimate.ratePerSecond == 0) {
            return NONE;
        }
        BatchServer server = new BatchServer(mix, noise);
        double most = load * MOST_LOAD * mix.mostPerSecond();
        double low = 0;
        double high = most * (1 + PLAYED_PRECISION);
        double tried = Math.min(most, estimate.ratePerSecond);
        Capacity best = NONE;
        while (high - low > PLAYED_PRECISION * high && low < most) {
            double p99 = server.play(tried, cv2, PLAYED_REQUESTS, sloMillis, 1).p99Millis();
            if (p99 <= BELOW_OBJECTIVE * sloMillis) {
                low = tried;
                best = new Capacity(tried, p99);
            } else {
                high = tried;
            }
            tried = low == 0 ? high * .8 : Math.min(most, Math.min(low * RAISED, (low + high) / 2));
        }
        return best;
    }

    private static boolean isFeasible(BatchLatency latency, double ratePerSecond, double sloMillis, double cv2) {
        double large = large(latency, ratePerSecond, cv2);
        return Math.ceil(large) <= latency.largestBatch() && p99Millis(latency, large) <= sloMillis;
    }

    /** What becomes of a rate; a p99 without bounds where the instance cannot keep up. */
    public static Capacity at(BatchLatency latency, double ratePerSecond, double cv2) {
        double large = large(latency, ratePerSecond, cv2);
        return new Capacity(
                ratePerSecond, Double.isInfinite(large) ? Double.POSITIVE_INFINITY : p99Millis(latency, large));
    }

    private static double p99Millis(BatchLatency latency, double large) {
        return ABOVE_FORMULA * 2 * latency.millis(large);
    }

    /** The batch that is exceeded once in a hundred times; infinite where the instance cannot keep up. */
    private static double large(BatchLatency latency, double ratePerSecond, double cv2) {
        double perMilli = ratePerSecond / 1000;
        double most = latency.largestBatch();
        double typical = perMilli * latency.millis(1);
        if (typical > 1) {
            if (perMilli * latency.millis(most) > most) {
                return Double.POSITIVE_INFINITY;
            }
            double low = 1;
            double high = most;
            while (high - low > PRECISION * high) {
                double middle = (low + high) / 2;
                if (perMilli * latency.millis(middle) > middle) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            typical = high;
        }
        double large = Math.max(1, typical);
        for (int i = 0; i < STEPS; i++) {
            double from = Math.max(1, typical);
            double to = Math.max(large, from * (1 + SLOPE_OVER));
            double slope = (latency.millis(to) - latency.millis(from)) / (to - from);
            double rho = Math.min(MOST_LOAD, perMilli * slope);
            double deviation = Math.sqrt(typical * cv2 / (1 - rho * rho));
            large = Math.max(1, typical + (cv2 - 1) + QUANTILE_99 * deviation + SKEW * (2 * cv2 - 1));
        }
        return large;
    }
}
