package io.lendstream.core.simulated;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.mig.MigGpu;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** A product whose GPUs can be simulated. Its name and memory are those that NVML reports. */
public enum SimulatedGpu {
    A100("NVIDIA A100-SXM4-80GB", 80),
    H100("NVIDIA H100 80GB HBM3", 80),
    L4("NVIDIA L4", 24),
    RTX6000("Quadro RTX 6000", 24),
    T4("Tesla T4", 16),
    V100("Tesla V100-SXM2-32GB", 32);

    private final String product;
    private final int gib;

    SimulatedGpu(String product, int gib) {
        this.product = product;
        this.gib = gib;
    }

    /** A product by its short name; empty if it cannot be simulated. */
    public static Optional<SimulatedGpu> named(String name) {
        return Arrays.stream(values())
                .filter(gpu -> gpu.name().equals(name.toUpperCase(Locale.ROOT)))
                .findFirst();
    }

    /** The short names. */
    public static String names() {
        return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
    }

    /** The kind of such GPUs. */
    public KindId kind() {
        return GpuKinds.PLAIN.of(gpu(new GpuId("any"), 0));
    }

    /** The ways to cut such a GPU into MIG instances; empty if it cannot be cut. */
    public Optional<MigGpu> mig() {
        return MigGpu.ofProduct(product, (long) gib << 30);
    }

    /** One such GPU. */
    Gpu gpu(GpuId id, int index) {
        return Gpu.whole(id, index, product, (long) gib << 30);
    }
}
