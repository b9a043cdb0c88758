package io.lendstream.core.latency;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.OptionalInt;

/**
 * The share of a GPU that an instance has, as far as its speed depends on it.
 *
 * @param compute its streaming multiprocessors, in those of the smallest instance: on H100 a 2g has 32 of 16
 * @param memory its memory slices, in those of the smallest instance; memory bandwidth and cache are shared out by them
 */
public record Slice(double compute, double memory) implements Comparable<Slice> {
    public Slice {
        if (!(compute > 0) || !(memory > 0)) {
            throw new IllegalArgumentException(
                    "a slice must have compute and memory above 0, but has %s and %s".formatted(compute, memory));
        }
    }

    /** An instance of a GPU; by compute slices where multiprocessors are not known. */
    public static Slice of(MigGpu gpu, MigProfile profile) {
        return of(gpu, profile.sms(), profile.computeSlices(), profile.memorySlices());
    }

    /** All of a GPU without MIG, which has a few multiprocessors more than its largest instance. */
    public static Slice whole(MigGpu gpu) {
        return of(gpu, OptionalInt.of(gpu.sms()), gpu.computeSlices(), gpu.memorySlices());
    }

    private static Slice of(MigGpu gpu, OptionalInt sms, int computeSlices, int memorySlices) {
        MigProfile smallest = gpu.profiles().get(gpu.profiles().size() - 1);
        boolean counted = sms.isPresent() && smallest.sms().isPresent();
        return new Slice(
                counted
                        ? (double) sms.getAsInt() / smallest.sms().getAsInt()
                        : (double) computeSlices / smallest.computeSlices(),
                (double) memorySlices / smallest.memorySlices());
    }

    @Override
    public int compareTo(Slice other) {
        int order = Double.compare(compute, other.compute);
        return order != 0 ? order : Double.compare(memory, other.memory);
    }
}
