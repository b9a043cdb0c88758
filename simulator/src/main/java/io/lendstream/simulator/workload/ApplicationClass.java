package io.lendstream.simulator.workload;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.BatchRange;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A made-up kind of training job, of the sizes and shapes that real ones have.
 *
 * @param noiseScaleFirst gradient noise scale in the first epoch, in samples
 * @param noiseScaleLast the same in the last
 * @param maxGpus most it can use
 * @param share of jobs that are of this kind
 * @param workScale how long its jobs are, compared with others
 */
record ApplicationClass(
        String name,
        ThroughputParameters throughput,
        BatchRange batch,
        double noiseScaleFirst,
        double noiseScaleLast,
        RescaleCosts costs,
        int maxGpus,
        double share,
        double workScale) {
    private static final int EPOCHS = 12;

    static final List<ApplicationClass> ALL = List.of(
            new ApplicationClass(
                    "vision-small",
                    new ThroughputParameters(0.018, 0.00055, 0.045, 0.0020, 0.012, 0.0012, 1.9),
                    new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                    900,
                    9000,
                    costs(22, 3),
                    16,
                    .34,
                    0.5),
            new ApplicationClass(
                    "vision-large",
                    new ThroughputParameters(0.055, 0.0026, 0.11, 0.0050, 0.030, 0.0030, 2.2),
                    new BatchRange(256, 12800, 32, 256, Optional.empty()),
                    2200,
                    26000,
                    costs(34, 3),
                    32,
                    .12,
                    2.2),
            new ApplicationClass(
                    "language-small",
                    new ThroughputParameters(0.040, 0.0150, 0.10, 0.0045, 0.035, 0.0035, 1.7),
                    new BatchRange(16, 512, 4, 32, Optional.empty()),
                    70,
                    420,
                    costs(40, 4),
                    16,
                    .26,
                    1.0),
            new ApplicationClass(
                    "language-large",
                    new ThroughputParameters(0.120, 0.0850, 0.24, 0.0110, 0.080, 0.0080, 2.4),
                    new BatchRange(16, 1024, 2, 12, Optional.empty()),
                    160,
                    1500,
                    costs(95, 5),
                    32,
                    .08,
                    3.0),
            new ApplicationClass(
                    "recommendation",
                    new ThroughputParameters(0.012, 0.000012, 0.060, 0.0070, 0.020, 0.0040, 1.4),
                    new BatchRange(1024, 32768, 256, 16384, Optional.empty()),
                    3000,
                    16000,
                    costs(24, 2),
                    8,
                    .20,
                    0.4));

    private static RescaleCosts costs(int firstSeconds, int nextSeconds) {
        return new RescaleCosts(Duration.ofSeconds(firstSeconds), Duration.ofSeconds(nextSeconds));
    }

    /** Gradient statistics of each epoch: the noise scale grows by the same factor from one to the next. */
    List<GradientNoise> noise() {
        List<GradientNoise> epochs = new ArrayList<>();
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            double scale = noiseScaleFirst * Math.pow(noiseScaleLast / noiseScaleFirst, epoch / (EPOCHS - 1.0));
            epochs.add(new GradientNoise(1.0, scale / batch.initial()));
        }
        return epochs;
    }
}
