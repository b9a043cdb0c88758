package io.lendstream.core.id;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The name of a GPU by its uuid, or a MIG instance as uuid/start:size. */
public record GpuId(String value) implements Comparable<GpuId> {
    public GpuId {
        Names.check("GpuId", value);
    }

    /** The same GPUs in order, in a list that cannot be changed. */
    public static List<GpuId> sorted(Collection<GpuId> gpus) {
        if (gpus.size() < 2) {
            return List.copyOf(gpus);
        }
        GpuId[] inOrder = gpus.toArray(new GpuId[0]);
        Arrays.sort(inOrder);
        return List.of(inOrder);
    }

    /** Some GPUs in which two names stand for each other. */
    public static List<GpuId> exchanged(List<GpuId> gpus, GpuId one, GpuId other) {
        List<GpuId> renamed = new ArrayList<>(gpus.size());
        for (GpuId gpu : gpus) {
            renamed.add(gpu.equals(one) ? other : gpu.equals(other) ? one : gpu);
        }
        return sorted(renamed);
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof GpuId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(GpuId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
