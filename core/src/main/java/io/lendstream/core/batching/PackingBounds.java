package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.List;

/**
 * GPUs that no plan can do without.
 *
 * @param volume as if every service ran on the profile that suits it best, and slices could be put together at will
 * @param linear as if instances and GPUs could be had in parts: at least {@code volume}
 * @param whole as if only GPUs could be had in parts, at the prices by which {@code linear} was found: at least that
 */
public record PackingBounds(double volume, double linear, double whole) {
    private static final double ROUNDING = 1e-6;

    /** Of a set of demands; see {@link SlotPrices} and {@link Cover}. */
    public static PackingBounds of(MigGpu gpu, List<Packing.Demand> demands) {
        return of(gpu, demands, SlotPrices.of(gpu, demands));
    }

    static PackingBounds of(MigGpu gpu, List<Packing.Demand> demands, SlotPrices slots) {
        double[] prices = slots.toArray();
        double whole = 0;
        for (Packing.Demand demand : demands) {
            whole += new Cover(demand.ratePerSecond(), demand.capacities(gpu), prices).leastPaid();
        }
        return new PackingBounds(volume(gpu, demands), slots.gpus(), Math.max(slots.gpus(), whole));
    }

    /** Whole GPUs, by the greatest of the bounds. */
    public int gpus() {
        return (int) Math.ceil(Math.max(volume, whole) - ROUNDING);
    }

    /** Whole GPUs, by linear programming alone. */
    public int linearGpus() {
        return (int) Math.ceil(linear - ROUNDING);
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
