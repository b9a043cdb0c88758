package io.lendstream.core.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MixTest {
    private static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow().plain();

    /** A fixed part and one in proportion to inputs, their size, and the slice. */
    private record Encoder(double fixed, double perInput) implements ModelLatency {
        @Override
        public Optional<BatchLatency> on(MigProfile profile, int size) {
            return Optional.of(new BatchLatency() {
                @Override
                public double millis(double batch) {
                    return fixed + perInput * batch * size / largestSize() / profile.computeSlices();
                }

                @Override
                public int largestBatch() {
                    return 256;
                }
            });
        }

        @Override
        public int largestSize() {
            return 512;
        }
    }

    private static PlannedService service(double sloMillis) {
        Map<Integer, Double> sizes = Map.of(32, 50.0, 100, 30.0, 200, 15.0, 512, 5.0);
        return new PlannedService("search", 300, sloMillis, 1, new Encoder(5, 8), new TreeMap<>(sizes));
    }

    @Test
    void sharesAddUp() {
        ServiceCapacity capacity = ServiceCapacity.ofBuckets(service(200), A100, 1, 3);

        assertThat(capacity.edges()).hasSize(3).endsWith(512);
        for (MigProfile profile : A100.profiles()) {
            Mix mix = capacity.mix(capacity.service().latency(), profile).orElseThrow();
            assertThat(mix.parts().stream().mapToDouble(Mix.Part::share).sum()).isCloseTo(1, within(1e-9));
        }
    }

    @Test
    void bucketsServeSeveralTimesAsManyAsPadding() {
        MigProfile third = A100.profiles().get(2);
        double padded = ServiceCapacity.ofBuckets(service(200), A100, 1, 1)
                .byProfile()
                .get(third)
                .ratePerSecond();
        double bucketed =
                ServiceCapacity.of(service(200), A100, 1).byProfile().get(third).ratePerSecond();

        assertThat(bucketed).isGreaterThan(2.5 * padded);
    }

    @Test
    void asManyBucketsAreTakenAsServeMost() {
        for (double slo : new double[] {14, 24, 400}) {
            ServiceCapacity chosen = ServiceCapacity.of(service(slo), A100, 1);
            for (int buckets : new int[] {1, 2, 4}) {
                assertThat(perSlice(chosen))
                        .as("%s against %d buckets within %.0f ms", chosen.edges(), buckets, slo)
                        .isGreaterThanOrEqualTo(
                                .98 * perSlice(ServiceCapacity.ofBuckets(service(slo), A100, 1, buckets)));
            }
        }
    }

    private static double perSlice(ServiceCapacity capacity) {
        return capacity.byProfile().entrySet().stream()
                .mapToDouble(entry ->
                        entry.getValue().ratePerSecond() / entry.getKey().computeSlices())
                .max()
                .orElse(0);
    }

    @Test
    void anInstanceAtItsCapacityIsInTimeWithAllBuckets() {
        ServiceCapacity capacity = ServiceCapacity.of(service(150), A100, 1);
        capacity.byProfile().forEach((profile, most) -> {
            Mix mix = capacity.mix(capacity.service().latency(), profile).orElseThrow();
            BatchServer.Outcome outcome = new BatchServer(mix, .02).play(most.ratePerSecond(), 1, 60_000, 150, 7);

            assertThat(outcome.p99Millis()).as(profile.name()).isLessThanOrEqualTo(150);
        });
    }

    @Test
    void requestsOfAnotherBucketComeAlongWhereThatIsFaster() {
        BatchLatency small = new TabulatedLatency(Map.of(1, 10.0, 64, 12.0));
        BatchLatency large = new TabulatedLatency(Map.of(1, 10.0, 64, 74.0));
        BatchChoice choice = new BatchChoice(new Mix(List.of(new Mix.Part(small, 1), new Mix.Part(large, 1))));
        int[] taken = new int[2];

        assertThat(choice.next(new double[] {1, 2}, new int[] {2, 3}, taken)).isEqualTo(1);
        assertThat(taken).containsExactly(2, 3);
        assertThat(choice.next(new double[] {1, 2}, new int[] {60, 3}, taken)).isEqualTo(0);
        assertThat(taken).containsExactly(60, 0);
    }

    @Test
    void aMixHasABucket() {
        assertThatThrownBy(() -> new Mix(List.of())).hasMessageContaining("at least 1 bucket");
    }
}
