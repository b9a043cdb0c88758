package io.lendstream.core.id;

/** The name of a GPU by its uuid, or a MIG instance as uuid/start:size. */
public record GpuId(String value) implements Comparable<GpuId> {
    public GpuId {
        Names.check("GpuId", value);
    }

    @Override
    public int compareTo(GpuId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
