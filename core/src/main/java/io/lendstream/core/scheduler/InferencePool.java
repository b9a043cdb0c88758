package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The GPUs of inference in a step: which are free, which are about to be, and which a service has. */
record InferencePool(StepBuilder builder) {
    /** Free GPUs that can be reached and that services may have, node by node; those of bundles in use first. */
    Iterator<GpuState> free() {
        AbilityGuard guard = new AbilityGuard(builder);
        if (!guard.isOn()) {
            return reachable().iterator();
        }
        Bundles bundles = new Bundles(builder);
        return reachable()
                .filter(gpu -> guard.againstReplica(gpu).isEmpty())
                .sorted(Comparator.comparing((GpuState gpu) -> bundles.of(gpu).isPresent() && !bundles.isInUse(gpu)))
                .iterator();
    }

    private Stream<GpuState> reachable() {
        return StreamSupport.stream(
                        builder.clusterIndex().gpus().free().values().spliterator(), false)
                .filter(gpu -> gpu.pool() == Pool.INFERENCE && builder.isReachable(gpu));
    }

    /** GPUs that services may have as soon as releases are reported. */
    List<GpuState> coming() {
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
                    && !builder.promises().isForJob(id)
                    && (!bundles.isWithTraining(gpu) || bundles.isComing(gpu))) {
                coming.add(gpu);
            }
        }
        return coming;
    }

    /**
     * Whether a GPU is of a kind that a service uses, and has the memory that a replica needs. Memory is left aside if
     * it is not known, or if all GPUs of the domain are alike: then there is no choice.
     */
    boolean fits(ServiceState service, GpuState unit) {
        boolean areAlike = builder.clusterIndex().trainingCapacity().kinds().size() < 2;
        return service.spec().uses(unit.kind())
                && service.spec()
                        .sliceMemoryBytes()
                        .filter(bytes -> !areAlike
                                && unit.kind()
                                        .filter(kind -> !kind.hasMemory(bytes))
                                        .isPresent())
                        .isEmpty();
    }

    /** Whether a promise keeps a GPU from a service. Floors, and nominal quotas of services, come before jobs. */
    boolean isPromisedToOther(ServiceId service, GpuState unit, QuotaGuard quotas) {
        Tenant tenant = new Tenant.Service(service);
        return builder.promises().keepsFrom(tenant, unit.gpuId())
                && quotas.queueOf(tenant).isPresent()
                && !quotas.isUnderFloor(service)
                && !(builder.promises().isForJob(unit.gpuId()) && quotas.isNominalWith(service, unit));
    }

    /** The replicas of a service, in whatever state. */
    Iterable<Map.Entry<Replica, GpuState>> replicas(ServiceState service) {
        ServiceId name = service.spec().service();
        List<Map.Entry<Replica, GpuState>> mine = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica : builder.clusterIndex()
                .gpus()
                .replicas()
                .from(key -> key.service().compareTo(name) >= 0)) {
            if (!replica.getKey().service().equals(name)) {
                break;
            }
            mine.add(replica);
        }
        return mine;
    }
}
