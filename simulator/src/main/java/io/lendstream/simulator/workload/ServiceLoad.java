package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;

/** An inference service and the demand for it. */
public record ServiceLoad(InferenceService service, Demand demand) {
    ServiceLoad named(String name) {
        if (service.service().value().equals(name)) {
            return this;
        }
        InferenceService renamed = new InferenceService(
                new ServiceId(name),
                service.domain(),
                service.at(),
                service.models(),
                service.slo(),
                service.replicaCapacityPerSecond(),
                service.replicaConcurrency(),
                service.floorReplicas(),
                service.warmUp(),
                service.sliceMemoryBytes());
        return new ServiceLoad(renamed, demand);
    }
}
