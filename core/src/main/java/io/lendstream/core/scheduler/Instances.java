package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Replica;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a service's replicas run on, where all of it is of one kind of GPU that we know.
 *
 * @param serving GPUs, or MIG instances, of replicas that serve
 * @param smallest MIG profile of those; empty for whole GPUs, or where none serves
 */
record Instances(MigGpu gpu, List<GpuId> serving, Optional<MigProfile> smallest) {
    static Optional<Instances> of(StepBuilder builder, ServiceId service) {
        Optional<MigGpu> kind = Optional.empty();
        List<GpuId> serving = new ArrayList<>();
        Optional<MigProfile> smallest = Optional.empty();
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicas()) {
            if (!replica.getKey().service().equals(service)) {
                continue;
            }
            GpuState state = replica.getValue();
            Optional<Gpu> gpu = builder.nodes().get(state.nodeId()).flatMap(node -> gpu(node, state.gpuId()));
            Optional<MigGpu> known = gpu.flatMap(Gpu::kind);
            Optional<String> name = gpu.flatMap(it -> profile(it, state.gpuId()));
            Optional<MigProfile> profile = name.flatMap(it -> known.flatMap(mig -> mig.profile(it)));
            if (known.isEmpty()
                    || (kind.isPresent() && !kind.equals(known))
                    || (name.isPresent() && profile.isEmpty())) {
                return Optional.empty();
            }
            kind = known;
            if (state.owner().isServing()) {
                smallest = serving.isEmpty() ? profile : smaller(known.get(), smallest, profile);
                serving.add(state.gpuId());
            }
        }
        Optional<MigProfile> least = smallest;
        return kind.map(gpu -> new Instances(gpu, List.copyOf(serving), least));
    }

    /** What the smallest of them has. */
    Slice slice() {
        return slice(gpu, smallest);
    }

    private static Slice slice(MigGpu gpu, Optional<MigProfile> profile) {
        return profile.map(instance -> Slice.of(gpu, instance)).orElseGet(() -> Slice.whole(gpu));
    }

    private static Optional<MigProfile> smaller(MigGpu gpu, Optional<MigProfile> one, Optional<MigProfile> other) {
        return slice(gpu, one).compareTo(slice(gpu, other)) <= 0 ? one : other;
    }

    private static Optional<Gpu> gpu(NodeState node, GpuId id) {
        return node.node().gpus().stream()
                .filter(gpu -> gpu.gpuId().equals(id) || profile(gpu, id).isPresent())
                .findFirst();
    }

    private static Optional<String> profile(Gpu gpu, GpuId id) {
        return gpu.instances().stream()
                .filter(instance -> instance.gpuId().equals(id))
                .map(GpuInstance::profile)
                .findFirst();
    }
}
