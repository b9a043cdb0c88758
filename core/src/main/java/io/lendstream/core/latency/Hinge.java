package io.lendstream.core.latency;

/**
 * The milliseconds of a batch as a hinge. The minimum holds while kernels are launched faster than they run; above it
 * are a fixed and a proportional part that shrink with the slice.
 *
 * <pre>
 * w(b, s) = b s (1 + k s) / (1 + k)                     work, in inputs of the largest size
 * l(b, s) = max(floor, (fixed + perInput w) / (compute^x memory^y))
 * </pre>
 *
 * The corner is rounded a little, so that fits find their way. Compute and memory count apart because a 3g has the
 * memory of a 4g: on the public A100 tables that takes a fifth off the error of a single exponent.
 *
 * @param logFloor logarithm of the floor in milliseconds
 * @param logFixed logarithm of the fixed part on the smallest slice
 * @param logPerInput logarithm of the part of an input of the largest size on the smallest slice
 * @param compute exponent of the slice's compute
 * @param memory exponent of the slice's memory
 * @param logCurvature logarithm of k: how much longer inputs take more than in proportion, as attention does
 */
public record Hinge(
        double logFloor, double logFixed, double logPerInput, double compute, double memory, double logCurvature) {
    static final int PARAMETERS = 6;
    private static final double ROUNDING = 30;

    static Hinge of(double[] at) {
        return new Hinge(at[0], at[1], at[2], at[3], at[4], at[5]);
    }

    double[] toArray() {
        return new double[] {logFloor, logFixed, logPerInput, compute, memory, logCurvature};
    }

    /** Work of a batch, in inputs of the largest size; of a mean of batches, it need not be whole. */
    public double work(double batch, double size) {
        double k = Math.exp(logCurvature);
        return batch * size * (1 + k * size) / (1 + k);
    }

    double logMillis(Slice slice, double batch, double size) {
        double above = Math.log(Math.exp(logFixed) + Math.exp(logPerInput) * work(batch, size))
                - compute * Math.log(slice.compute())
                - memory * Math.log(slice.memory());
        return rounded(logFloor, above);
    }

    private static double rounded(double one, double other) {
        double greater = Math.max(one, other);
        return greater + Math.log1p(Math.exp(-ROUNDING * Math.abs(one - other))) / ROUNDING;
    }

    /** The slopes of {@link #logMillis} by the parameters, in their order. */
    double[] slopes(Slice slice, double batch, double size) {
        double k = Math.exp(logCurvature);
        double fixed = Math.exp(logFixed);
        double proportional = Math.exp(logPerInput) * work(batch, size);
        double logCompute = Math.log(slice.compute());
        double logMemory = Math.log(slice.memory());
        double above = Math.log(fixed + proportional) - compute * logCompute - memory * logMemory;
        double onFloor = Math.exp(ROUNDING * (logFloor - rounded(logFloor, above)));
        double share = proportional / (fixed + proportional);
        double off = 1 - onFloor;
        return new double[] {
            onFloor,
            off * (1 - share),
            off * share,
            -off * logCompute,
            -off * logMemory,
            off * share * (k * size / (1 + k * size) - k / (1 + k))
        };
    }
}
