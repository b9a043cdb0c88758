package io.lendstream.core.scheduler;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.repartition.Instance;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * GPUs of inference that are in MIG mode, or may be brought into it, with their units: those of one kind that we know,
 * which most of them are of. A GPU with a unit that is quarantined, or that we cannot place, is left alone.
 */
record CuttableGpus(MigGpu kind, Map<GpuId, Cuttable> gpus) {
    /** They take a while to work out, and are always the same. */
    private static final Map<MigGpu, MigLayouts> LAYOUTS = new ConcurrentHashMap<>();

    MigLayouts layouts() {
        return LAYOUTS.computeIfAbsent(kind, MigLayouts::of);
    }

    /**
     * A GPU and its units by place, biggest first; units that are being removed and units that are being made are both
     * in it.
     *
     * @param switchable whether it may leave MIG mode, or be brought into it
     */
    record Cuttable(GpuId gpu, NodeId node, long memoryBytes, boolean switchable, List<Unit> units) {
        /** The units without those that are being removed. */
        Stream<Unit> there() {
            return units.stream().filter(unit -> !unit.isGoing());
        }
    }

    /**
     * An instance that is there, or on its way; or a whole GPU without MIG.
     *
     * @param place where it is; for a whole GPU that of the largest instance, beside which there is room for no other
     */
    record Unit(GpuState state, MigPlace place) {
        boolean isWhole() {
            return state.isWhole();
        }

        /** Whether a replica on a whole GPU is up, or coming up. */
        Optional<ServiceId> replica() {
            return isWhole() && state.owner().isActiveReplica() ? state.owner().holdingService() : Optional.empty();
        }

        boolean isFree() {
            return state.isFree();
        }

        boolean isGoing() {
            return state.owner()
                    .asRecutting()
                    .filter(recutting -> !recutting.coming())
                    .isPresent();
        }

        boolean isRecut() {
            return state.owner().isRecutting();
        }

        /** Whether a service runs there, or is coming up. */
        boolean serves() {
            return isWhole() ? replica().isPresent() : state.owner().replicaOf().isPresent();
        }

        boolean isAsleep() {
            return state.owner().isSleeping();
        }

        boolean isLeaving() {
            return state.owner().isReleasing();
        }

        /** Whether a replica is on its way there, or is leaving. */
        boolean isReplicaInTransfer() {
            return state.owner().isInTransfer()
                    && state.owner().holdingService().isPresent();
        }

        /** What the transition planner calls it; only where it serves. */
        Instance instance(GpuId gpu) {
            ServiceId service = state.owner().holdingService().orElseThrow();
            return new Instance(gpu, place, service.value());
        }
    }

    static Optional<CuttableGpus> of(StepBuilder builder) {
        Map<MigGpu, Integer> counts = new HashMap<>();
        candidates(builder).forEach(each -> counts.merge(each.kind, 1, Integer::sum));
        return counts.entrySet().stream()
                .max(Map.Entry.<MigGpu, Integer>comparingByValue()
                        .thenComparing(kind -> kind.getKey().toString()))
                .map(Map.Entry::getKey)
                .map(kind -> new CuttableGpus(kind, usable(builder, kind)));
    }

    /** A kind of GPU that can be cut here, by its name. */
    static Optional<MigGpu> kind(StepBuilder builder, String model) {
        return candidates(builder)
                .map(Candidate::kind)
                .filter(kind -> kind.model().equals(model))
                .findFirst();
    }

    /** The kinds of the GPUs that are cut in one way. */
    static Stream<KindId> kinds(StepBuilder builder, MigGpu kind, GpuKinds kinds) {
        return candidates(builder).filter(each -> each.kind.equals(kind)).map(each -> kinds.of(each.gpu));
    }

    /** Whether a whole GPU may be brought into MIG mode. */
    static boolean isCuttable(StepBuilder builder, GpuState whole) {
        return builder.nodes().get(whole.nodeId()).stream()
                .filter(node -> isCut(builder, whole.nodeId()))
                .flatMap(node -> node.node().gpus().stream())
                .anyMatch(gpu -> gpu.migSwitchable() && gpu.gpuId().equals(whole.gpuId()));
    }

    /** Whether GPUs of a node are cut: not where the actuator cannot, or lends the node as a whole. */
    private static boolean isCut(StepBuilder builder, NodeId node) {
        ActuatorScopes scopes = builder.entities().scopes();
        return scopes.isEmpty()
                || (!scopes.isClosed(node) && scopes.abilities(node).cutsUnits());
    }

    /** The actuators that keep GPUs of inference from being cut, which would be cut otherwise; by name. */
    static Set<String> unable(StepBuilder builder) {
        Set<String> names = new TreeSet<>();
        for (NodeState node : builder.nodes().values()) {
            boolean isCuttable = node.node().pool() == Pool.INFERENCE
                    && node.node().gpus().stream().anyMatch(Gpu::isCuttable);
            if (isCuttable && !isCut(builder, node.node().nodeId())) {
                builder.entities()
                        .scopes()
                        .of(node.node().nodeId())
                        .forEach(actuator -> names.add(actuator.actuator()));
            }
        }
        return names;
    }

    private record Candidate(Node node, Gpu gpu, MigGpu kind) {}

    private static Stream<Candidate> candidates(StepBuilder builder) {
        return builder.nodes().stream()
                .map(NodeState::node)
                .filter(node -> node.pool() == Pool.INFERENCE && node.status() == NodeStatus.READY)
                .filter(node -> isCut(builder, node.nodeId()))
                .flatMap(node -> node.gpus().stream()
                        .filter(Gpu::isCuttable)
                        .flatMap(gpu -> gpu.kind().map(MigGpu::withoutMediaEngines).stream()
                                .map(kind -> new Candidate(node, gpu, kind))));
    }

    private static Map<GpuId, Cuttable> usable(StepBuilder builder, MigGpu kind) {
        Map<GpuId, List<GpuState>> units = new TreeMap<>();
        for (GpuState unit : new UnitsByNode(builder).usable()) {
            GpuId gpu = unit.instance().map(MigInstance::gpu).orElse(unit.gpuId());
            units.computeIfAbsent(gpu, any -> new ArrayList<>()).add(unit);
        }
        Map<GpuId, Cuttable> usable = new TreeMap<>();
        candidates(builder)
                .filter(each -> each.kind.equals(kind))
                .forEach(each -> cuttable(each, kind, units.getOrDefault(each.gpu.gpuId(), List.of()))
                        .ifPresent(gpu -> usable.put(gpu.gpu(), gpu)));
        return usable;
    }

    private static Optional<Cuttable> cuttable(Candidate each, MigGpu kind, List<GpuState> units) {
        List<Unit> placed = new ArrayList<>();
        for (GpuState unit : units) {
            Optional<MigPlace> place = place(unit, kind);
            if (place.isEmpty() || unit.owner().isQuarantined()) {
                return Optional.empty();
            }
            placed.add(new Unit(unit, place.get()));
        }
        placed.sort(
                Comparator.<Unit>comparingInt(unit -> -unit.place().profile().memorySlices())
                        .thenComparing(unit -> unit.state().gpuId()));
        return Optional.of(new Cuttable(
                each.gpu.gpuId(),
                each.node.nodeId(),
                each.gpu.memoryBytes(),
                each.gpu.migSwitchable(),
                List.copyOf(placed)));
    }

    private static Optional<MigPlace> place(GpuState unit, MigGpu kind) {
        MigProfile largest = kind.profiles().get(0);
        return unit.isWhole()
                ? Optional.of(new MigPlace(largest, largest.starts().get(0)))
                : unit.instance().map(MigInstance::place).flatMap(text -> MigPlace.parse(kind, text));
    }

    /** The same without GPUs that are left to replicas of other services. */
    CuttableGpus servingOnly(Set<ServiceId> services) {
        Map<GpuId, Cuttable> left = new TreeMap<>(gpus);
        left.values()
                .removeIf(gpu -> gpu.units().stream()
                        .flatMap(unit -> unit.replica().stream())
                        .anyMatch(service -> !services.contains(service)));
        return new CuttableGpus(kind, left);
    }

    /**
     * The same without GPUs whose instances still serve a service that declares shapes since: it lets them rest once
     * replicas in its shapes answer its load.
     */
    CuttableGpus withoutShaped(PersistentMap<ServiceId, ServiceState> services) {
        Map<GpuId, Cuttable> left = new TreeMap<>(gpus);
        left.values()
                .removeIf(gpu -> gpu.units().stream()
                        .filter(unit -> unit.state().owner().isActiveReplica())
                        .flatMap(unit -> unit.state().owner().holdingService().stream())
                        .flatMap(service -> services.get(service).stream())
                        .anyMatch(service -> service.spec().hasGroups()));
        return new CuttableGpus(kind, left);
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
                .anyMatch(unit -> unit.isRecut() || unit.isReplicaInTransfer());
    }

    /**
     * Requests per second that a service's replica on an instance answers, as planned with. A whole GPU that may be cut
     * answers what the largest instance does; others are not planned with.
     */
    static double capacity(StepBuilder builder, ServiceId service, GpuState unit) {
        if (builder.slices().isEmpty()) {
            return 0;
        }
        Optional<SlicePlan.Demand> demand = builder.slices().get().demand(service);
        if (demand.isEmpty()) {
            return 0;
        }
        if (unit.instance().isPresent()) {
            return demand.get().capacity(unit.instance().get().profile());
        }
        return isCuttable(builder, unit) && isPlannedWith(builder, service, unit)
                ? demand.get().largest()
                : 0;
    }

    /** Whether the plan's capacities hold on a whole GPU: for a service by kinds only on the model of the plan. */
    private static boolean isPlannedWith(StepBuilder builder, ServiceId service, GpuState whole) {
        boolean isByKind = whole.kind().isPresent()
                && builder.services()
                        .get(service)
                        .filter(known -> !known.spec().takesKindsAsAlike())
                        .isPresent();
        if (!isByKind) {
            return true;
        }
        String model = builder.slices().map(SlicePlan::model).orElse("");
        return builder.nodes().get(whole.nodeId()).stream()
                .flatMap(node -> node.node().gpus().stream())
                .filter(gpu -> gpu.gpuId().equals(whole.gpuId()))
                .anyMatch(gpu ->
                        gpu.kind().filter(kind -> kind.model().equals(model)).isPresent());
    }
}
