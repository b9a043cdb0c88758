package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The capacity of one instance of each profile for a service.
 *
 * @param edges of its buckets, ascending; the largest size of the model last
 * @param byProfile only profiles on which it is in time
 */
public record ServiceCapacity(PlannedService service, List<Integer> edges, Map<MigProfile, Capacity> byProfile) {
    private static final int MOST_BUCKETS = 8;
    private static final double NOISE = .02;

    public ServiceCapacity {
        edges = List.copyOf(edges);
        byProfile = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(byProfile));
    }

    /** How a capacity is found. */
    private interface Judge {
        Capacity of(Mix mix);
    }

    /**
     * With the buckets that serve most: as many as save computing, or fewer where a tight objective leaves no time for
     * a batch of each. Capacities are played, which takes some 10 to 100 ms each.
     *
     * @param load greatest share of an instance's capacity that is used; 1 for no reserve
     */
    public static ServiceCapacity of(PlannedService service, MigGpu gpu, double load) {
        List<Integer> most = bucketizer(service, gpu, MOST_BUCKETS).best(histogram(service));
        ServiceCapacity best = with(service, gpu, most, playing(service, load));
        for (int buckets = most.size() / 2; buckets >= 1; buckets /= 2) {
            ServiceCapacity fewer = ofBuckets(service, gpu, load, buckets);
            best = fewer.perSlice() > best.perSlice() ? fewer : best;
        }
        return best;
    }

    /** With so many buckets. */
    public static ServiceCapacity ofBuckets(PlannedService service, MigGpu gpu, double load, int buckets) {
        return with(
                service,
                gpu,
                bucketizer(service, gpu, buckets).edges(histogram(service), buckets),
                playing(service, load));
    }

    /** By formula, at once: for comparing, not for promises. */
    public static ServiceCapacity estimated(PlannedService service, MigGpu gpu, double load) {
        List<Integer> edges = bucketizer(service, gpu, MOST_BUCKETS).best(histogram(service));
        return with(service, gpu, edges, mix -> Capacity.of(mix, service.sloMillis(), service.cv2(), load));
    }

    private static Judge playing(PlannedService service, double load) {
        return mix -> Capacity.played(mix, service.sloMillis(), service.cv2(), load, NOISE);
    }

    private static ServiceCapacity with(PlannedService service, MigGpu gpu, List<Integer> edges, Judge judge) {
        Map<MigProfile, Capacity> capacities = new LinkedHashMap<>();
        ServiceCapacity shape = new ServiceCapacity(service, edges, Map.of());
        for (MigProfile profile : gpu.profiles()) {
            shape.mix(service.latency(), profile)
                    .map(judge::of)
                    .filter(capacity -> capacity.ratePerSecond() > 0)
                    .ifPresent(capacity -> capacities.put(profile, capacity));
        }
        return new ServiceCapacity(service, edges, capacities);
    }

    /**
     * The service's requests on an instance, by bucket.
     *
     * @param latency as planned with, or the true one
     * @return empty where not every bucket runs there
     */
    public Optional<Mix> mix(ModelLatency latency, MigProfile profile) {
        List<Mix.Part> parts = new ArrayList<>();
        int below = 0;
        for (int edge : edges) {
            boolean last = edge == edges.get(edges.size() - 1);
            double share = service.share(below, last ? Integer.MAX_VALUE : edge);
            Optional<BatchLatency> batches = latency.on(profile, edge);
            if (share > 0 && batches.isEmpty()) {
                return Optional.empty();
            }
            if (share > 0) {
                parts.add(new Mix.Part(inTime(batches.get()), share));
            }
            below = edge;
        }
        return Optional.of(new Mix(parts));
    }

    /**
     * The largest batch of each bucket on an instance, in the order of {@link #edges}: the batch that its memory holds
     * and with which a request can still be in time.
     */
    public List<Integer> largestBatches(MigProfile profile) {
        return edges.stream()
                .map(edge -> service.latency()
                        .on(profile, edge)
                        .map(latency -> inTime(latency).largestBatch())
                        .orElse(0))
                .toList();
    }

    /** The same, up to the largest batch with which a request can still be in time. */
    private BatchLatency inTime(BatchLatency latency) {
        int low = 1;
        int high = latency.largestBatch();
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (latency.millis(middle) <= service.sloMillis()) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return latency.upTo(low);
    }

    private double perSlice() {
        return byProfile.entrySet().stream()
                .mapToDouble(entry ->
                        entry.getValue().ratePerSecond() / entry.getKey().computeSlices())
                .max()
                .orElse(0);
    }

    /** Of the service's sizes; where none are given, all are of the largest. */
    private static SizeHistogram histogram(PlannedService service) {
        Map<Integer, Double> sizes =
                service.sizes().isEmpty() ? Map.of(service.latency().largestSize(), 1.0) : service.sizes();
        return SizeHistogram.empty(Instant.EPOCH).with(sizes, Instant.EPOCH);
    }

    /** By what an input costs in a large batch on the largest instance that takes all sizes. */
    private static Bucketizer bucketizer(PlannedService service, MigGpu gpu, int buckets) {
        ModelLatency latency = service.latency();
        int largest = latency.largestSize();
        MigProfile profile = gpu.profiles().stream()
                .filter(each -> latency.on(each, largest).isPresent())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "the model of service %s runs on no instance of %s".formatted(service.name(), gpu.model())));
        return new Bucketizer(
                size -> {
                    BatchLatency batches = latency.on(profile, size).orElseThrow();
                    return batches.millis(batches.largestBatch()) / batches.largestBatch();
                },
                largest,
                buckets);
    }

    /** The service's demand on instances. */
    public Packing.Demand demand() {
        Map<MigProfile, Double> rates = new LinkedHashMap<>();
        byProfile.forEach((profile, capacity) -> rates.put(profile, capacity.ratePerSecond()));
        return new Packing.Demand(service.name(), service.ratePerSecond(), rates);
    }
}
