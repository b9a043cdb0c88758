package io.lendstream.core.scheduler;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.state.ServiceState;
import java.util.Optional;

/** The known batch times of services. */
@FunctionalInterface
public interface Latencies {
    /** In bytes. */
    double GIB = 1L << 30;

    /** The reported batches of servers on that kind of GPU. */
    Latencies LEARNED = (service, gpu) -> service.batchesOn(gpu.model())
            .filter(batches -> !batches.learned().bins().isEmpty())
            .map(batches -> learned(service, batches, gpu));

    /**
     * Of a service's model on instances of a kind of GPU, margins included; empty where too little has been learned.
     */
    Optional<ModelLatency> learned(ServiceState service, MigGpu gpu);

    private static ModelLatency learned(ServiceState service, ServiceBatches batches, MigGpu gpu) {
        return new ModelLatency() {
            @Override
            public Optional<BatchLatency> on(MigProfile profile, int size) {
                boolean fits = service.spec()
                        .sliceMemoryBytes()
                        .filter(bytes -> bytes <= profile.memoryGib().orElse(0) * GIB)
                        .isPresent();
                return batches.on(Slice.of(gpu, profile), fits).map(bySize -> bySize.apply(size));
            }

            @Override
            public int largestSize() {
                return batches.largest();
            }
        };
    }
}
