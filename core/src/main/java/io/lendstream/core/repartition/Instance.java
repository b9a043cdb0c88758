package io.lendstream.core.repartition;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigPlace;
import java.util.Comparator;

/**
 * A GPU instance and its service. Ordered by GPU, then biggest first.
 *
 * @param service by the name under which it is demanded
 */
public record Instance(GpuId gpu, MigPlace place, String service) implements Comparable<Instance> {
    private static final Comparator<Instance> ORDER = Comparator.comparing(Instance::gpu)
            .thenComparing(instance -> -instance.place.profile().memorySlices())
            .thenComparing(instance -> -instance.place.profile().computeSlices())
            .thenComparing(instance -> instance.place.start())
            .thenComparing(instance -> instance.place.profile().name())
            .thenComparing(Instance::service);

    @Override
    public int compareTo(Instance other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return "%s on %s %s".formatted(service, gpu, place);
    }
}
