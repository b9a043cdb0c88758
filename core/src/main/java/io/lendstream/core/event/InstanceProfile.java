package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.mig.MigProfile;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A size of MIG instance that a GPU offers, as its driver reports it.
 *
 * @param name NVIDIA's, such as {@code 3g.40gb}
 * @param id by which the driver makes one
 * @param computeSlices that one has; at least 1
 * @param memorySlices that one covers; at least 1
 * @param memoryBytes that an instance can use; 0 if not known
 * @param multiprocessors that an instance has; 0 if not known
 * @param starts memory slices at which one may begin; at least one
 * @param most how many a GPU may have
 */
public record InstanceProfile(
        String name,
        int id,
        int computeSlices,
        int memorySlices,
        long memoryBytes,
        int multiprocessors,
        List<Integer> starts,
        int most) {
    /** No GPU has more; it bounds how many layouts there can be. */
    private static final int MOST_SLICES = 8;

    private static final double GIB = 1L << 30;

    public InstanceProfile {
        Checks.atLeast("computeSlices", 1, computeSlices);
        Checks.atLeast("memorySlices", 1, memorySlices);
        Checks.atLeast("memoryBytes", 0, memoryBytes);
        Checks.atLeast("multiprocessors", 0, multiprocessors);
        Checks.atLeast("starts", 1, starts.size());
        starts.forEach(start -> Checks.atLeast("starts", 0, start));
        Checks.atLeast("most", 1, most);
        starts = starts.stream().sorted().toList();
        int end = starts.get(starts.size() - 1) + memorySlices;
        if (computeSlices > MOST_SLICES || end > MOST_SLICES) {
            throw new IllegalArgumentException(
                    "MIG profile %s has %d compute slices and ends at memory slice %d, but GPUs have at most %d"
                            .formatted(name, computeSlices, end, MOST_SLICES));
        }
    }

    /** The same for planners. */
    MigProfile migProfile() {
        return new MigProfile(
                name,
                id,
                computeSlices,
                memorySlices,
                memoryBytes > 0 ? OptionalDouble.of(memoryBytes / GIB) : OptionalDouble.empty(),
                multiprocessors > 0 ? OptionalInt.of(multiprocessors) : OptionalInt.empty(),
                starts,
                most);
    }
}
