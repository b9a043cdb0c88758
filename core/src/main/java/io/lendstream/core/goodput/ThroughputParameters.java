package io.lendstream.core.goodput;

/**
 * The seven parameters of a job's step time.
 *
 * <p>{@code T_acc = alphaC + betaC * b}; {@code T_net = alphaN + betaN * (r - 2)} across nodes, {@code alphaR + betaR *
 * (r - 2)} within one; {@code T_opt = (T_acc^gamma + T_net^gamma)^(1/gamma)}. All times in seconds.
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, section 3.2</a>
 */
public record ThroughputParameters(
        double alphaC, double betaC, double alphaN, double betaN, double alphaR, double betaR, double gamma) {
    /** Of a job whose owner declares no profile: a step of a second, whatever the batch and the GPUs. */
    public static final ThroughputParameters UNKNOWN = new ThroughputParameters(1, 0, 0, 0, 0, 0, 1);

    private static final double ROUNDING = 1e-8;
    /** Seconds that a single replica needs for its network; not 0, for its logarithm is taken. */
    static final double NO_NETWORK_SECONDS = ROUNDING * (1 + ROUNDING);

    public ThroughputParameters {
        for (double value : new double[] {alphaC, betaC, alphaN, betaN, alphaR, betaR}) {
            if (!(value >= 0) || Double.isInfinite(value)) {
                throw new IllegalArgumentException(
                        "throughput parameters must be finite and at least 0, but one was " + value);
            }
        }
        if (!(gamma >= 1 && gamma <= 10)) {
            throw new IllegalArgumentException("gamma must lie between 1 and 10, but was " + gamma);
        }
    }

    /** The parameters of steps that take this much less time. */
    public ThroughputParameters fasterBy(double factor) {
        return new ThroughputParameters(
                alphaC / factor,
                betaC / factor,
                alphaN / factor,
                betaN / factor,
                alphaR / factor,
                betaR / factor,
                gamma);
    }

    /** Seconds of one accumulation step of {@code local} samples. */
    public double accumulationSeconds(double local) {
        return alphaC + betaC * local;
    }

    /** Seconds that {@code replicas} on {@code nodes} need to synchronise their gradients. */
    public double networkSeconds(int nodes, int replicas) {
        double more = beyondTwo(replicas);
        if (nodes > 1) {
            return alphaN + betaN * more;
        }
        if (replicas > 1) {
            return alphaR + betaR * more;
        }
        return NO_NETWORK_SECONDS;
    }

    /** Seconds of a synchronised step. */
    public double stepSeconds(int nodes, int replicas, int local) {
        double compute = accumulationSeconds(local);
        return Math.pow(Math.pow(compute, gamma) + Math.pow(networkSeconds(nodes, replicas), gamma), 1 / gamma);
    }

    /** Replicas beyond the second, each of which lengthens synchronisation; not 0, as published. */
    static double beyondTwo(int replicas) {
        return Math.max(replicas - 2, ROUNDING);
    }
}
