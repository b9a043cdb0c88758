package io.lendstream.core.latency;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;

/**
 * What of a GPU an instance has, as far as its speed hangs on it.
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
        MigProfile smallest = gpu.profiles().get(gpu.profiles().size() - 1);
        boolean counted = profile.sms().isPresent() && smallest.sms().isPresent();
        return new Slice(
                counted
                        ? (double) profile.sms().getAsInt() / smallest.sms().getAsInt()
                        : (double) profile.computeSlices() / smallest.computeSlices(),
                (double) profile.memorySlices() / smallest.memorySlices());
    }

    @Override
    public int compareTo(Slice other) {
        int order = Double.compare(compute, other.compute);
        return order != 0 ? order : Double.compare(memory, other.memory);
    }
}
