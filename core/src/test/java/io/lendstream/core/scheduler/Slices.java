package io.lendstream.core.scheduler;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.TabulatedLatency;
import io.lendstream.core.mig.MigProfile;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Models whose latency is known: 4 ms, and for each input some time that shrinks with the instance's compute. */
final class Slices {
    /** Milliseconds an input on one of seven slices, by service. */
    private static final Map<String, Double> PER_INPUT = Map.of("chat", 2.5, "search", 3.5, "vision", 1.5);

    static final Latencies LATENCIES = (service, gpu) ->
            Optional.ofNullable(PER_INPUT.get(service.spec().service().value())).map(Slices::latency);

    private Slices() {}

    /** How long batches of a service really take. */
    static ModelLatency truth(String service) {
        return latency(Optional.ofNullable(PER_INPUT.get(service)).orElseThrow());
    }

    private static ModelLatency latency(double perInput) {
        return new ModelLatency() {
            @Override
            public Optional<BatchLatency> on(MigProfile profile, int size) {
                Map<Integer, Double> millis = new TreeMap<>();
                for (int batch = 1; batch <= 32; batch *= 2) {
                    millis.put(batch, 4 + perInput * batch / Math.pow(profile.computeSlices(), 0.9));
                }
                return Optional.of(new TabulatedLatency(millis));
            }

            @Override
            public int largestSize() {
                return 1;
            }
        };
    }
}
