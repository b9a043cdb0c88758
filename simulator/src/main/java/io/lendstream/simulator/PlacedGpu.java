package io.lendstream.simulator;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** A GPU or a MIG instance: where it is, and what it is. */
public record PlacedGpu(GpuId gpu, NodeId node, KindId kind, Pool pool) {
    /** All units by node and name; each is in all three maps. */
    static List<PlacedGpu> all(GpuPlaces places) {
        return places.nodes().entrySet().stream()
                .map(unit -> new PlacedGpu(
                        unit.getKey(),
                        unit.getValue(),
                        Objects.requireNonNull(places.kinds().get(unit.getKey())),
                        Objects.requireNonNull(places.pools().get(unit.getKey()))))
                .sorted(Comparator.comparing(PlacedGpu::node).thenComparing(PlacedGpu::gpu))
                .toList();
    }
}
