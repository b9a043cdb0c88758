package io.lendstream.core.actuation;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The effects of a change of MIG instances on the units of a GPU.
 *
 * @param places the instances that the GPU is to have, by profile and place
 * @param known the GPU as declared; empty if its instances cannot be changed
 */
public record GpuCutting(GpuId id, List<String> places, Optional<Gpu> known) {
    public GpuCutting {
        places = List.copyOf(places);
    }

    /** Whether the GPU is in the MIG mode that it needs, or may be switched. */
    boolean isPossible() {
        return known.filter(gpu -> gpu.migSwitchable() || gpu.migEnabled() == !places.isEmpty())
                .isPresent();
    }

    /** The GPU and those of its instances that are destroyed. */
    List<GpuId> going() {
        var going = new ArrayList<GpuId>(List.of(id));
        instances().stream().filter(instance -> !isKept(instance)).forEach(instance -> going.add(instance.gpuId()));
        return going;
    }

    /** How many instances are destroyed. */
    public int destroyed() {
        return instances().size() - kept();
    }

    /** How many instances are created. */
    public int created() {
        return places.size() - kept();
    }

    /** Whether the GPU enters or leaves MIG mode. */
    public boolean switchesMode() {
        return known.filter(gpu -> gpu.migEnabled() == places.isEmpty()).isPresent();
    }

    private int kept() {
        return (int) instances().stream().filter(this::isKept).count();
    }

    private boolean isKept(GpuInstance instance) {
        return places.contains(instance.profile() + "@" + instance.start());
    }

    private List<GpuInstance> instances() {
        return known.map(Gpu::instances).orElse(List.of());
    }
}
