package io.lendstream.core.actuation;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import java.util.Optional;

/**
 * The known facts about the subject of an {@link Order}.
 *
 * @param job the submission of the job
 * @param service the spec of the service
 * @param gpu the GPU whose MIG instances are changed
 */
public record OrderSubject(Optional<TrainingJob> job, Optional<InferenceService> service, Optional<Gpu> gpu) {
    /** Nothing is known. */
    public static final OrderSubject NOTHING = new OrderSubject(Optional.empty(), Optional.empty(), Optional.empty());
}
