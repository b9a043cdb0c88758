package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuProcess;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** What the tests look at: two whole GPUs, GPU-0 and GPU-1, and GPU-2 in MIG mode with MIG-a and MIG-b. */
final class Seen {
    static final GpuId GPU_0 = new GpuId("GPU-0");
    static final GpuId GPU_1 = new GpuId("GPU-1");
    static final GpuId GPU_2 = new GpuId("GPU-2");
    static final GpuId MIG_A = new GpuId("GPU-2/0:4");
    static final GpuId MIG_B = new GpuId("GPU-2/4:4");

    private Seen() {}

    static GpuSnapshot with(GpuProcess... processes) {
        return with(Set.of(), processes);
    }

    static GpuSnapshot with(Set<GpuId> untold, GpuProcess... processes) {
        List<Gpu> gpus = List.of(
                Gpu.whole(GPU_0, 0, "NVIDIA H100", 80L << 30),
                Gpu.whole(GPU_1, 1, "NVIDIA H100", 80L << 30),
                Gpu.whole(GPU_2, 2, "NVIDIA H100", 80L << 30)
                        .cutInto(List.of(instance(MIG_A, 0, "MIG-a"), instance(MIG_B, 4, "MIG-b"))));
        var samples = new ArrayList<GpuSample>();
        for (GpuId id : List.of(GPU_0, GPU_1, GPU_2, MIG_A, MIG_B)) {
            samples.add(GpuSample.of(id).build());
        }
        return new GpuSnapshot(
                NodeStatus.READY, "", gpus, samples, List.of(processes), untold, Optional.empty(), Optional.empty());
    }

    private static GpuInstance instance(GpuId id, int start, String uuid) {
        return new GpuInstance(id, "3g.40gb", start, 4, 40L << 30, Optional.of(uuid));
    }

    /** Who uses what, as samples say it: {@code ?} where they do not. */
    static Map<String, String> users(GpuSnapshot sight) {
        var users = new TreeMap<String, String>();
        sight.samples()
                .forEach(sample -> users.put(
                        sample.gpuId().value(),
                        sample.usedBy().map(of -> String.join(" ", of)).orElse("?")));
        return users;
    }
}
