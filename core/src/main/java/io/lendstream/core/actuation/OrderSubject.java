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

/**
 * The known facts about the subject of an {@link Order}.
 *
 * @param job the submission of the job
 * @param service the spec of the service
 * @param gpu the GPU whose MIG instances are changed
 * @param kinds the kinds of the units, if the service declares its capacity on kinds; else empty
 */
public record OrderSubject(
        Optional<TrainingJob> job, Optional<InferenceService> service, Optional<Gpu> gpu, Map<GpuId, KindId> kinds) {
    /** Nothing is known. */
    public static final OrderSubject NOTHING = new OrderSubject(Optional.empty(), Optional.empty(), Optional.empty());

    public OrderSubject {
        kinds = Map.copyOf(kinds);
    }

    /** The subject of an order for which kinds of GPU do not matter. */
    public OrderSubject(Optional<TrainingJob> job, Optional<InferenceService> service, Optional<Gpu> gpu) {
        this(job, service, gpu, Map.of());
    }

    /**
     * The service with the longest warm-up that it has on these units.
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
                    .map(shape -> shape.coldOn(kind))
                    .findFirst()
                    .orElseGet(() -> spec.warmUpOn(kind));
            longest = warmUp.compareTo(longest) > 0 ? warmUp : longest;
        }
        return Optional.of(spec.warmingUpIn(longest));
    }

    /** The same of replicas of one unit. */
    public Optional<InferenceService> serviceOn(List<GpuId> units) {
        if (kinds.isEmpty() || units.isEmpty()) {
            return service;
        }
        return service.map(spec -> spec.warmingUpIn(units.stream()
                .map(unit -> spec.warmUpOn(Optional.ofNullable(kinds.get(unit))))
                .max(Comparator.naturalOrder())
                .orElse(spec.warmUp())));
    }
}
