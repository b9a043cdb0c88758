package io.lendstream.core.demand;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The capacity of a replica and the floor of a service, which turn requests per second into GPUs. A replica holds one
 * GPU, unless the service declares shapes.
 *
 * @param perSecond requests per second that one replica answers within the SLO; above 0
 * @param floor replicas that are kept whatever the demand
 * @param roles the replicas of each role of a service that declares shapes; else empty
 */
public record ReplicaCapacity(double perSecond, int floor, List<RoleCapacity> roles) implements ReplicaCounting {
    /** Load of a replica that demand may use, so that random bursts stay within the SLO. */
    static final double USABLE = 0.85;

    public ReplicaCapacity {
        roles = List.copyOf(roles);
        check(perSecond, floor);
    }

    static void check(double perSecond, int floor) {
        if (!(perSecond > 0) || Double.isInfinite(perSecond)) {
            throw new IllegalArgumentException(
                    "what a replica answers must be a finite number of requests per second above 0, but was %s"
                            .formatted(perSecond));
        }
        if (floor < 0) {
            throw new IllegalArgumentException("a floor must be at least 0 replicas, but was %d".formatted(floor));
        }
    }

    /** Replicas of one GPU. */
    public ReplicaCapacity(double perSecond, int floor) {
        this(perSecond, floor, List.of());
    }

    /** As a service's declaration has it; by GPU in the first shape, if it declares shapes. */
    public static ReplicaCapacity of(InferenceService declared) {
        if (!declared.hasGroups()) {
            InferenceService plain = declared.plain();
            return new ReplicaCapacity(plain.replicaCapacityPerSecond(), plain.floorReplicas());
        }
        List<RoleCapacity> roles = new ArrayList<>();
        for (ReplicaRole role : declared.hardware().roles()) {
            ReplicaShape first = declared.hardware().planned(role).get(0);
            double perSecond = first.capacityOn(Optional.empty(), declared.replicaCapacityPerSecond());
            roles.add(new RoleCapacity(role, perSecond, declared.floor(role), first.units()));
        }
        if (!roles.isEmpty()) {
            double gpusPerRequest = 0;
            for (RoleCapacity role : roles) {
                gpusPerRequest += role.units() / role.perSecond();
            }
            return new ReplicaCapacity(1 / gpusPerRequest, declared.floorGpus(), roles);
        }
        return new ReplicaCapacity(declared.replicaCapacityPerSecond(), declared.floorReplicas());
    }

    @Override
    public int replicasFor(double requestsPerSecond) {
        return (int) Math.ceil(requestsPerSecond / (perSecond * USABLE) - 1e-9);
    }

    /** GPUs that the service needs at a demand of so many requests per second, its floor at least. */
    public int gpusFor(double requestsPerSecond) {
        if (!roles.isEmpty()) {
            long gpus = 0;
            for (RoleCapacity role : roles) {
                gpus += (long) role.replicasFor(requestsPerSecond) * role.units();
            }
            return (int) Math.min(Integer.MAX_VALUE, gpus);
        }
        return Math.max(floor, replicasFor(requestsPerSecond));
    }

    /** A forecast that speaks in GPUs, too. */
    public DemandForecast inGpus(DemandForecast forecast) {
        return forecast.with(forecast.horizons().stream().map(this::inGpus).toList());
    }

    /** One horizon with its values in GPUs, and in replicas of each role. */
    public HorizonQuantiles inGpus(HorizonQuantiles at) {
        return at.in(
                new GpuQuantiles(gpusFor(at.p10()), gpusFor(at.p50()), gpusFor(at.p90()), gpusFor(at.p99())),
                roles.stream().map(role -> role.at(at)).toList());
    }
}
