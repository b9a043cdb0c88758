package io.lendstream.core.actuation;

import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The known facts about the subject of an {@link Order}.
 *
 * @param job the submission of the job
 * @param service the spec of the service
 * @param gpu the GPU whose MIG instances are changed
 * @param kinds the kinds of the units, if the service declares its capacity on kinds; else empty
 * @param cached the units on nodes where the service has a replica, if it declares that it starts faster there
 * @param cachedStart how long a replica of one unit takes to start there; empty if it is not declared
 */
public record OrderSubject(
        Optional<TrainingJob> job,
        Optional<InferenceService> service,
        Optional<Gpu> gpu,
        Map<GpuId, KindId> kinds,
        Set<GpuId> cached,
        Optional<Duration> cachedStart) {
    /** Nothing is known. */
    public static final OrderSubject NOTHING = new OrderSubject(Optional.empty(), Optional.empty(), Optional.empty());

    public OrderSubject {
        kinds = Map.copyOf(kinds);
        cached = Set.copyOf(cached);
    }

    /** The subject of an order for which kinds and nodes do not matter. */
    public OrderSubject(Optional<TrainingJob> job, Optional<InferenceService> service, Optional<Gpu> gpu) {
        this(job, service, gpu, Map.of(), Set.of(), Optional.empty());
    }

    /**
     * The service with the longest warm-up that it has on these units, from cache where its model is on their node.
     *
     * @param replicas the replicas of several units, which start as their shapes say
     */
    public Optional<InferenceService> serviceOn(List<GpuId> units, List<ReplicaUnits> replicas) {
        if (service.isEmpty() || replicas.isEmpty() || units.isEmpty()) {
            return serviceOn(units);
        }
        InferenceService spec = service.get();
        Duration longest = Duration.ZERO;
        for (GpuId unit : units) {
            Optional<KindId> kind = Optional.ofNullable(kinds.get(unit));
            Duration warmUp = replicas.stream()
                    .filter(replica -> replica.units().contains(unit))
                    .flatMap(replica -> spec.hardware().named(replica.shape()).stream())
                    .map(shape -> shape.startOn(kind, cached.contains(unit)))
                    .findFirst()
                    .orElseGet(() -> single(spec, unit));
            longest = warmUp.compareTo(longest) > 0 ? warmUp : longest;
        }
        return Optional.of(spec.warmingUpIn(longest));
    }

    /** The same of replicas of one unit. */
    public Optional<InferenceService> serviceOn(List<GpuId> units) {
        if ((kinds.isEmpty() && cached.isEmpty()) || units.isEmpty()) {
            return service;
        }
        return service.map(spec -> spec.warmingUpIn(units.stream()
                .map(unit -> single(spec, unit))
                .max(Comparator.naturalOrder())
                .orElse(spec.warmUp())));
    }

    /** How long a replica of one unit takes to start. */
    private Duration single(InferenceService spec, GpuId unit) {
        return cachedStart
                .filter(any -> cached.contains(unit))
                .orElseGet(() -> spec.warmUpOn(Optional.ofNullable(kinds.get(unit))));
    }
}
