package io.lendstream.core.goodput;

/**
 * How far a measured step may be from the expected one until speeds are fitted again. Fits take time, and later steps
 * on the same placement scatter, so a finer rule looks only at the first one there.
 */
public enum FitRule {
    /** A quarter. */
    COARSE(1.25),
    /** A quarter, and 4 % for the first step on as many nodes and GPUs with the same batch. */
    FINE(1.04);

    private final double onFirst;

    FitRule(double onFirst) {
        this.onFirst = Math.log(onFirst);
    }

    /**
     * Whether a step leads to a new fit.
     *
     * @param ratio of the measured to the expected time
     * @param isFirst whether nothing was measured there before
     */
    boolean isSurprising(double ratio, boolean isFirst) {
        return Math.abs(Math.log(ratio)) > (isFirst ? onFirst : COARSE.onFirst);
    }
}
