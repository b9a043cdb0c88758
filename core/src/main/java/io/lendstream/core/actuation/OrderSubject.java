package io.lendstream.core.actuation;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
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

    /** The service with the longest warm-up that it has on these units. */
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
