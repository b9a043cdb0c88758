package io.lendstream.simulator.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.BatchServer;
import io.lendstream.core.batching.Capacity;
import io.lendstream.core.batching.Mix;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class BatchServerTest {
    private static final int REQUESTS = 60_000;

    private final Path data = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("mig/parvagpu/prof_data");

    /** A fixed and a proportional part. */
    private record Line(double fixed, double perInput, int largestBatch) implements BatchLatency {
        @Override
        public double millis(double batch) {
            return fixed + perInput * batch;
        }
    }

    @Test
    void singleRequestsTakeWhatABatchOfOneTakes() {
        BatchServer.Outcome outcome = new BatchServer(Mix.of(new Line(4, 1, 8)), 0).play(1, 1, REQUESTS, 10, 1);

        assertThat(outcome.busy()).isCloseTo(.005, within(.0005));
        assertThat(outcome.p99Millis()).isBetween(5.0, 10.0);
        assertThat(outcome.late()).isLessThan(.01);
    }

    @Test
    void burstsMakeItLater() {
        BatchServer server = new BatchServer(Mix.of(new Line(10, 1, 64)), 0);

        assertThat(server.play(500, 4, REQUESTS, 60, 1).p99Millis())
                .isGreaterThan(1.1 * server.play(500, 1, REQUESTS, 60, 1).p99Millis());
    }

    @Test
    void capacitiesForeseeTheP99OfAServer() {
        for (double fixed : new double[] {2, 20}) {
            for (double rate : new double[] {100, 300, 600, 850}) {
                Line line = new Line(fixed, 1, 4096);
                double foreseen = Capacity.at(line, rate, 1).p99Millis();
                double played = new BatchServer(Mix.of(line), 0)
                        .play(rate, 1, 4 * REQUESTS, 1000, 1)
                        .p99Millis();

                assertThat(played / foreseen).as("%s at %s/s", line, rate).isBetween(.7, 1.05);
            }
        }
    }

    @Test
    void atTheirCapacityInstancesOfRealModelsAreInTime() {
        assumeThat(data)
                .as("latency tables; set LENDSTREAM_DATA to the directory that has them")
                .exists();
        MigGpu gpu = MigGpu.named("A100-80GB").orElseThrow();
        double worst = 0;
        int served = 0;
        for (LatencyTable table : LatencyTables.read(data, gpu)) {
            for (MigProfile profile : gpu.plain().profiles()) {
                BatchLatency truth = new MeasuredLatency(table).on(profile, 1).orElseThrow();
                for (double slo : new double[] {8 * truth.millis(1), 25 * truth.millis(1)}) {
                    for (double cv2 : new double[] {1, 4}) {
                        Capacity capacity = Capacity.played(Mix.of(truth.times(1.05)), slo, cv2, 1, .02);
                        if (capacity.ratePerSecond() == 0) {
                            continue;
                        }
                        served++;
                        BatchServer server = new BatchServer(Mix.of(truth), .02);
                        double p99 = server.play(capacity.ratePerSecond(), cv2, REQUESTS, slo, 9)
                                .p99Millis();
                        worst = Math.max(worst, p99 / slo);

                        assertThat(p99)
                                .as(
                                        "%s on %s within %.0f ms at %.1f/s, cv2 %s",
                                        table.model(), profile.name(), slo, capacity.ratePerSecond(), cv2)
                                .isLessThanOrEqualTo(slo);
                    }
                }
            }
        }
        assertThat(served).as("cases with a rate").isGreaterThan(180);
        System.out.printf("latency at capacity: at most %.2f of the objective%n", worst);
    }
}
