package io.lendstream.core.scheduler;

import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.cluster.ServiceState;
import io.lendstream.core.mig.MigGpu;
import java.util.Optional;

/** What is known of how long the batches of services take. */
@FunctionalInterface
public interface Latencies {
    /** Nothing is known of anybody. */
    Latencies NONE = (service, gpu) -> Optional.empty();

    /** Of a service's model on instances of a kind of GPU, margins included; empty where too little has been learned. */
    Optional<ModelLatency> learned(ServiceState service, MigGpu gpu);
}
