package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;

/** An inference service and the demand for it. */
public record ServiceLoad(InferenceService service, Demand demand) {
    ServiceLoad named(String name) {
        if (service.service().value().equals(name)) {
            return this;
        }
        return new ServiceLoad(service.named(new ServiceId(name)), demand);
    }
}
