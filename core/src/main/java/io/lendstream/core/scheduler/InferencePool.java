package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The GPUs of inference in a step: which are free, which are about to be, and which a service has. */
record InferencePool(StepBuilder builder) {
    /** Free GPUs that can be reached and that services may have, node by node; those of bundles in use first. */
    Iterator<GpuState> free() {
        AbilityGuard guard = new AbilityGuard(builder);
        if (builder.entities().startsGroups()) {
            return tightest(guard);
        }
        if (!guard.isOn()) {
            return reachable().iterator();
        }
        return usable(guard).iterator();
    }

    /** Those on the nodes with the fewest free GPUs first, so that replicas of several GPUs find room. */
    private Iterator<GpuState> tightest(AbilityGuard guard) {
        List<GpuState> units = usable(guard).toList();
        Map<NodeId, Integer> counts = new HashMap<>();
        units.forEach(unit -> counts.merge(unit.nodeId(), 1, Integer::sum));
        return units.stream()
                .sorted(Comparator.comparing(unit -> counts.getOrDefault(unit.nodeId(), 0)))
                .iterator();
    }

    private Stream<GpuState> usable(AbilityGuard guard) {
        Bundles bundles = new Bundles(builder);
        return reachable()
                .filter(gpu -> guard.againstReplica(gpu).isEmpty())
                .sorted(Comparator.comparing((GpuState gpu) -> bundles.of(gpu).isPresent() && !bundles.isInUse(gpu)));
    }

    private Stream<GpuState> reachable() {
        return StreamSupport.stream(
                        builder.clusterIndex().gpus().free().values().spliterator(), false)
                .filter(gpu -> gpu.pool() == Pool.INFERENCE && builder.isReachable(gpu));
    }

    /** GPUs that services of single GPUs may have as soon as releases are reported. */
    List<GpuState> coming() {
        List<GpuState> coming = coming(builder.promises()::isForJob);
        if (!builder.promises().isEmpty()) {
            coming.removeIf(gpu -> builder.promises().isForGroup(builder, gpu.gpuId()));
        }
        return coming;
    }

    /**
     * GPUs that services may have as soon as releases are reported.
     *
     * @param isKept whether a GPU is kept for others
     */
    List<GpuState> coming(Predicate<GpuId> isKept) {
        if (builder.services().isEmpty()) {
            return new ArrayList<>();
        }
        AbilityGuard guard = new AbilityGuard(builder);
        Bundles bundles = new Bundles(builder);
        List<GpuState> coming = new ArrayList<>(bundles.waiting());
        for (GpuId id : builder.clusterIndex().gpus().owed().values()) {
            GpuState gpu = builder.gpu(id);
            if (gpu.owner().isReleasing()
                    && gpu.pool() == Pool.INFERENCE
                    && gpu.isWhole()
                    && builder.isReachable(gpu)
                    && guard.isUsable(gpu)
                    && !isKept.test(id)
                    && (!bundles.isWithTraining(gpu) || bundles.isComing(gpu))) {
                coming.add(gpu);
            }
        }
        return coming;
    }

    /**
     * Whether a GPU is of a kind that a service uses, has the memory that a replica needs, and is on a node that can
     * run its program, as far as that is known. Memory is left aside if it is not known, or if all GPUs of the domain
     * are alike: then there is no choice.
     */
    boolean fits(ServiceState service, GpuState unit) {
        boolean areAlike = builder.clusterIndex().trainingCapacity().kinds().size() < 2;
        return service.spec().uses(unit.kind())
                && !service.starts().wait(unit.nodeId())
                && service.spec()
                        .sliceMemoryBytes()
                        .filter(bytes -> !areAlike
                                && unit.kind()
                                        .filter(kind -> !kind.hasMemory(bytes))
                                        .isPresent())
                        .isEmpty();
    }

    /**
     * Whether a promise keeps a GPU from a service. Replicas of several units keep theirs from all others. Floors, and
     * nominal quotas of services, come before jobs.
     */
    boolean isPromisedToOther(ServiceId service, GpuState unit, QuotaGuard quotas) {
        Tenant tenant = new Tenant.Service(service);
        Promises promises = builder.promises();
        return promises.keepsFrom(tenant, unit.gpuId())
                && (promises.isForGroup(builder, unit.gpuId())
                        || (quotas.queueOf(tenant).isPresent()
                                && !quotas.isUnderFloor(service)
                                && !(promises.isForJob(unit.gpuId()) && quotas.isNominalWith(service, unit))));
    }

    /** Whether a service starts no replicas yet, because its own may run already and are not taken over. */
    boolean isHeldBack(ServiceState service) {
        if (service.spec().adopt().isEmpty()) {
            return false;
        }
        AdoptionClaims claims = new AdoptionClaims(builder.entities(), builder.now(), false);
        boolean hasNone = !replicas(service).iterator().hasNext();
        return (hasNone && claims.isTooEarly(service.spec()))
                || claims.isComing(service.spec().service());
    }

    /** The replicas of a service, in whatever state. */
    Iterable<Map.Entry<Replica, GpuState>> replicas(ServiceState service) {
        return builder.clusterIndex().gpus().replicasOf(service.spec().service());
    }
}
