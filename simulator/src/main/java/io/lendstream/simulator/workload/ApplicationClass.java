package io.lendstream.simulator.workload;

import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import java.util.ArrayList;
import java.util.List;

/**
 * A kind of training job of the presets: an application of the Pollux and DeepBoot evaluations, as fast as its model
 * that {@link LeastSquaresThroughput} fitted to the public measurements, and as noisy as they say. How far the fits are
 * off is in docs/workloads.md. How many jobs it has and how long they take is made up.
 *
 * @param noiseScaleFirst gradient noise scale in the first epoch, in samples: the first quartile of its measured epochs
 * @param noiseScaleLast the same in the last: the third quartile
 * @param maxGpus most it can use
 * @param share of jobs that are of this kind
 * @param workScale how long its jobs are, compared with others
 */
record ApplicationClass(
        PolluxApplication application,
        ThroughputParameters throughput,
        double noiseScaleFirst,
        double noiseScaleLast,
        int maxGpus,
        double share,
        double workScale) {
    private static final int EPOCHS = 12;

    static final List<ApplicationClass> ALL = List.of(
            new ApplicationClass(
                    application("cifar10"),
                    new ThroughputParameters(0.017255, 0.00070591, 0.13007, 0.0026071, 0.032359, 0.0054432, 2.4111),
                    2563.8,
                    12441,
                    16,
                    .34,
                    0.5),
            new ApplicationClass(
                    application("yolov3"),
                    new ThroughputParameters(0.19365, 0.025545, 0.73199, 0.010117, 0.050112, 0.079600, 1.0839),
                    369.45,
                    986.58,
                    32,
                    .12,
                    2.2),
            new ApplicationClass(
                    application("deepspeech2"),
                    new ThroughputParameters(0.31199, 0.023485, 0.52531, 0.0097840, 0.0015061, 0.11869, 1.5252),
                    2738.9,
                    225350,
                    16,
                    .26,
                    1.0),
            new ApplicationClass(
                    application("imagenet"),
                    new ThroughputParameters(0.064295, 0.0044927, 0.32794, 0.0061996, 0.061798, 0.018436, 2.6715),
                    5985.5,
                    14246,
                    32,
                    .08,
                    3.0),
            new ApplicationClass(
                    application("bert"),
                    new ThroughputParameters(0.17566, 0.058659, 1.4236, 0.0085900, 0.25101, 0.044482, 1.9635),
                    422.97,
                    1124.3,
                    8,
                    .20,
                    0.4));

    private static PolluxApplication application(String name) {
        return PolluxApplication.named(name).orElseThrow();
    }

    /** Gradient statistics of each epoch: the noise scale grows by the same factor from one to the next. */
    List<GradientNoise> noise() {
        List<GradientNoise> epochs = new ArrayList<>();
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            double scale = noiseScaleFirst * Math.pow(noiseScaleLast / noiseScaleFirst, epoch / (EPOCHS - 1.0));
            epochs.add(new GradientNoise(1.0, scale / application.batch().initial()));
        }
        return epochs;
    }
}
