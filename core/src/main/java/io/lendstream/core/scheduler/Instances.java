package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
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
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a service's replicas run on, of one kind of GPU that we know.
 *
 * @param serving GPUs, or MIG instances, of replicas that serve
 * @param smallest MIG profile of those; empty for whole GPUs, or where none serves
 */
record Instances(MigGpu gpu, List<GpuId> serving, Optional<MigProfile> smallest) {
    /** What all its replicas run on; empty if that is not of one kind that we know. */
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

    /** What its replicas run on, by kind of GPU that we know; replicas on others are left out. */
    static List<Instances> all(StepBuilder builder, ServiceId service) {
        SortedMap<String, Instances> all = new TreeMap<>();
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicas()) {
            if (replica.getKey().service().equals(service)) {
                one(builder, replica.getValue()).ifPresent(one -> all.merge(one.gpu.model(), one, Instances::and));
            }
        }
        return List.copyOf(all.values());
    }

    /** The kind of GPU that a service's replicas on a kind of the domain have. */
    static Optional<MigGpu> gpu(StepBuilder builder, ServiceId service, KindId kind) {
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicas()) {
            boolean isOf = replica.getKey().service().equals(service)
                    && replica.getValue().kind().filter(kind::equals).isPresent();
            if (isOf) {
                return one(builder, replica.getValue()).map(Instances::gpu);
            }
        }
        return Optional.empty();
    }

    private static Optional<Instances> one(StepBuilder builder, GpuState state) {
        Optional<Gpu> gpu = builder.nodes().get(state.nodeId()).flatMap(node -> gpu(node, state.gpuId()));
        Optional<MigGpu> known = gpu.flatMap(Gpu::kind);
        Optional<String> name = gpu.flatMap(it -> profile(it, state.gpuId()));
        Optional<MigProfile> profile = name.flatMap(it -> known.flatMap(mig -> mig.profile(it)));
        if (known.isEmpty() || (name.isPresent() && profile.isEmpty())) {
            return Optional.empty();
        }
        return Optional.of(
                state.owner().isServing()
                        ? new Instances(known.get(), List.of(state.gpuId()), profile)
                        : new Instances(known.get(), List.of(), Optional.empty()));
    }

    private Instances and(Instances other) {
        if (serving.isEmpty() || other.serving.isEmpty()) {
            return serving.isEmpty() ? other : this;
        }
        List<GpuId> both = new ArrayList<>(serving);
        both.addAll(other.serving);
        return new Instances(gpu, List.copyOf(both), smaller(gpu, smallest, other.smallest));
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
