package io.lendstream.simulator.published;

/** Sums in the order in which numpy does: the published choice between equal sums depends on their last bit. */
final class PairwiseSum {
    private static final int LANES = 8;
    private static final int BLOCK = 128;

    private PairwiseSum() {}

    static double of(double[] values) {
        return of(values, 0, values.length);
    }

    private static double of(double[] values, int from, int count) {
        if (count < LANES) {
            double sum = 0;
            for (int i = from; i < from + count; i++) {
                sum += values[i];
            }
            return sum;
        }
        if (count <= BLOCK) {
            double[] lane = java.util.Arrays.copyOfRange(values, from, from + LANES);
            int i = LANES;
            for (; i < count - count % LANES; i += LANES) {
                for (int k = 0; k < LANES; k++) {
                    lane[k] += values[from + i + k];
                }
            }
            double sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
            for (; i < count; i++) {
                sum += values[from + i];
            }
            return sum;
        }
        int half = count / 2;
        half -= half % LANES;
        return of(values, from, half) + of(values, from + half, count - half);
    }
}
