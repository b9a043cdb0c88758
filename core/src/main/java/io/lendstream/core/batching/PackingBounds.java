package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.List;

/**
 * GPUs that no plan can do without.
 *
 * @param volume as if every service ran on the profile that suits it best, and slices could be put together at will
 * @param linear as if instances and GPUs could be had in parts: at least {@code volume}
 */
public record PackingBounds(double volume, double linear) {
    private static final double ROUNDING = 1e-6;

    /** Of a set of demands; O(services x profiles) variables in a linear programme. */
    public static PackingBounds of(MigGpu gpu, List<Packing.Demand> demands) {
        return new PackingBounds(volume(gpu, demands), new PackingRelaxation(gpu, demands).gpus());
    }

    /** Whole GPUs. */
    public int gpus() {
        return (int) Math.ceil(Math.max(volume, linear) - ROUNDING);
    }

    private static double volume(MigGpu gpu, List<Packing.Demand> demands) {
        double sum = 0;
        for (Packing.Demand demand : demands) {
            double least = Double.POSITIVE_INFINITY;
            for (MigProfile profile : gpu.profiles()) {
                least = Math.min(least, profile.computeSlices() / demand.capacity(profile));
            }
            sum += demand.ratePerSecond() * least / gpu.computeSlices();
        }
        return sum;
    }
}
