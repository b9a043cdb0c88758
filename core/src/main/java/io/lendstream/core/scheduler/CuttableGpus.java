package io.lendstream.core.scheduler;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.MigInstance;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.NodeState;
import io.lendstream.core.cluster.Owner;
import io.lendstream.core.cluster.Pool;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.repartition.Instance;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * GPUs of inference in MIG mode with their units: those of one kind that we know, which most of them are of. A GPU with a
 * unit that is quarantined, or that we cannot place, is left alone.
 */
record CuttableGpus(MigGpu kind, Map<GpuId, Cuttable> gpus) {
    /** They take a while to work out, and are always the same. */
    private static final Map<MigGpu, MigLayouts> LAYOUTS = new ConcurrentHashMap<>();

    MigLayouts layouts() {
        return LAYOUTS.computeIfAbsent(kind, MigLayouts::of);
    }

    /** A GPU and its units by place, biggest first; those that are going with those that are to come. */
    record Cuttable(GpuId gpu, NodeId node, long memoryBytes, List<Unit> units) {
        /** Units that keep their GPU from being cut anew, or not. */
        Stream<Unit> there() {
            return units.stream().filter(unit -> !unit.isGoing());
        }
    }

    /** An instance that is there, or on its way. */
    record Unit(GpuState state, MigPlace place) {
        boolean isFree() {
            return state.isFree();
        }

        boolean isGoing() {
            return state.owner() instanceof Owner.Recutting recutting && !recutting.coming();
        }

        boolean isRecut() {
            return state.owner() instanceof Owner.Recutting;
        }

        Optional<Tenant> holder() {
            return state.owner().holder();
        }

        /** Whether a service runs there, or is coming up. */
        boolean serves() {
            return holder().filter(Tenant.Service.class::isInstance).isPresent() && !isLeaving();
        }

        boolean isLeaving() {
            return state.owner() instanceof Owner.Releasing;
        }

        /** What the transition planner calls it; only where it serves. */
        Instance instance(GpuId gpu) {
            Tenant.Service service = (Tenant.Service) holder().orElseThrow();
            return new Instance(gpu, place, service.service().value());
        }
    }

    static Optional<CuttableGpus> of(Draft draft) {
        Map<String, Integer> counts = new TreeMap<>();
        candidates(draft).forEach(each -> counts.merge(each.kind.model(), 1, Integer::sum));
        Optional<MigGpu> kind = counts.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .flatMap(most -> MigGpu.named(most.getKey()))
                .map(MigGpu::withoutMediaEngines);
        return kind.map(known -> new CuttableGpus(known, usable(draft, known)));
    }

    private record Candidate(Node node, Gpu gpu, MigGpu kind) {}

    private static Stream<Candidate> candidates(Draft draft) {
        return draft.nodes().stream()
                .map(NodeState::node)
                .filter(node -> node.pool() == Pool.INFERENCE && node.status() == NodeStatus.READY)
                .flatMap(node -> node.gpus().stream()
                        .filter(Gpu::migEnabled)
                        .flatMap(gpu -> MigGpu.ofProduct(gpu.model(), gpu.memoryBytes()).stream()
                                .map(kind -> new Candidate(node, gpu, kind))));
    }

    private static Map<GpuId, Cuttable> usable(Draft draft, MigGpu kind) {
        Map<GpuId, List<GpuState>> units = new TreeMap<>();
        for (GpuState unit : draft.usableGpus()) {
            unit.instance()
                    .ifPresent(instance -> units.computeIfAbsent(instance.gpu(), gpu -> new ArrayList<>())
                            .add(unit));
        }
        Map<GpuId, Cuttable> usable = new TreeMap<>();
        candidates(draft)
                .filter(each -> each.kind.model().equals(kind.model()))
                .forEach(each -> cuttable(each, kind, units.getOrDefault(each.gpu.gpuId(), List.of()))
                        .ifPresent(gpu -> usable.put(gpu.gpu(), gpu)));
        return usable;
    }

    private static Optional<Cuttable> cuttable(Candidate each, MigGpu kind, List<GpuState> units) {
        List<Unit> placed = new ArrayList<>();
        for (GpuState unit : units) {
            Optional<MigPlace> place =
                    unit.instance().map(MigInstance::place).flatMap(text -> MigPlace.parse(kind, text));
            if (place.isEmpty() || unit.owner() instanceof Owner.Quarantined) {
                return Optional.empty();
            }
            placed.add(new Unit(unit, place.get()));
        }
        placed.sort(
                Comparator.<Unit>comparingInt(unit -> -unit.place().profile().memorySlices())
                        .thenComparing(unit -> unit.state().gpuId()));
        return Optional.of(
                new Cuttable(each.gpu.gpuId(), each.node.nodeId(), each.gpu.memoryBytes(), List.copyOf(placed)));
    }

    /** Instances that serve or are about to. */
    List<Instance> serving() {
        return gpus.values().stream()
                .flatMap(gpu -> gpu.there().filter(Unit::serves).map(unit -> unit.instance(gpu.gpu())))
                .toList();
    }

    /** Whether a step of a transition is being carried out. */
    boolean isInFlight() {
        return gpus.values().stream()
                .flatMap(gpu -> gpu.units().stream())
                .anyMatch(unit -> unit.isRecut()
                        || (unit.holder()
                                        .filter(Tenant.Service.class::isInstance)
                                        .isPresent()
                                && (unit.isLeaving() || unit.state().owner() instanceof Owner.Binding)));
    }
}
