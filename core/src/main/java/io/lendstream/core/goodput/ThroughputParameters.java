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
}
