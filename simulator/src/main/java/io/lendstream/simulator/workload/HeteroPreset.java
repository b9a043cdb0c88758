package io.lendstream.simulator.workload;

import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.KindId;
import io.lendstream.core.simulated.SimulatedGpu;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * The preset of three kinds of GPU: T4, RTX 6000 and A100, in about the shares of Sia's cluster. Jobs have the profiles
 * of the other presets, which were measured on T4. On other kinds their steps are faster by the ratio of step times on
 * one GPU in the public measurements of Sia, at one batch for each application. Owners declare these ratios with an
 * uncertainty. Synchronisation is faster or slower by the links of each kind, which only measured steps show. A100
 * stands for Sia's DGX nodes with NVLink, {@code dgx-ext}. RTX 6000 is only a name for the GPUs of its nodes {@code
 * rtx}, whose product the measurements do not say. The times of T4 are those of Pollux.
 *
 * @see <a href="https://doi.org/10.1145/3600006.3613175">Sia, SOSP 2023</a>
 * @see <a href="https://github.com/siasosp23/artifacts">Its measurements</a>
 */
final class HeteroPreset {
    static final String NAME = "hetero";

    private static final double UNCERTAINTY = 0.2;
    private static final int HOURS = 24;
    private static final double ARRIVAL_HOURS = 14;
    private static final double WORK_SHARE = 0.62;
    private static final int JOBS = 80;
    private static final int FEWEST_NODES = 3;

    /** Speed over that on a T4. */
    private record Speeds(double rtx, double a100) {}

    /** At batches of 12, 8, 40, 200 and 513; that of cifar10 on T4 is by the fit to Pollux's measurements. */
    private static final Map<String, Speeds> SPEEDS = Map.of(
            "bert", new Speeds(2.1, 5.5),
            "yolov3", new Speeds(0.6, 1.1),
            "deepspeech2", new Speeds(1.7, 1.3),
            "imagenet", new Speeds(2.0, 3.4),
            "cifar10", new Speeds(2.2, 5.3));

    /**
     * Synchronisation times of bert, the application with the largest gradients, at a batch of 11 or 12: with four GPUs
     * on a node T4 93 ms, {@code rtx} 155 ms, {@code dgx-ext} 17 ms; with four on each of two nodes 1660, 510 and 18
     * ms.
     */
    private static final Map<KindId, LinkSpeed> LINKS = Map.of(
            SimulatedGpu.RTX6000.kind(), new LinkSpeed(0.6, 3.3),
            SimulatedGpu.A100.kind(), new LinkSpeed(5.5, 90));

    private HeteroPreset() {}

    /** How many of some nodes have each product: a quarter A100, and of the others half T4. */
    static Map<SimulatedGpu, Integer> kinds(int nodes) {
        if (nodes < FEWEST_NODES) {
            throw new IllegalArgumentException("preset %s needs at least %d nodes, one of each kind, but there are %d"
                    .formatted(NAME, FEWEST_NODES, nodes));
        }
        Map<SimulatedGpu, Integer> kinds = new EnumMap<>(SimulatedGpu.class);
        int a100 = Math.max(1, nodes / 4);
        int rtx = (nodes - a100) / 2;
        kinds.put(SimulatedGpu.T4, nodes - a100 - rtx);
        kinds.put(SimulatedGpu.RTX6000, rtx);
        kinds.put(SimulatedGpu.A100, a100);
        return kinds;
    }

    /** Jobs for all GPUs of a scene. */
    static Workload create(Scene scene, RandomGenerator chance) {
        int gpus = scene.trainingGpus() + scene.inferenceGpus();
        Scene whole = new Scene(
                scene.domain(),
                scene.start(),
                scene.seed(),
                gpus,
                0,
                Optional.empty(),
                Optional.empty(),
                scene.elasticLists());
        double gpuHours = WORK_SHARE * HOURS * gpus * meanSpeed();
        List<TrainingTask> tasks = new TrainingGenerator(whole, chance).generate(JOBS, ARRIVAL_HOURS, gpuHours);
        return new Workload(
                NAME, scene.start(), tasks.stream().map(HeteroPreset::onKinds).toList(), List.of());
    }

    /** The mean speed of jobs over all GPUs, where a T4 has 1. */
    private static double meanSpeed() {
        double rtx = 0;
        double a100 = 0;
        for (ApplicationClass kind : ApplicationClass.ALL) {
            Speeds speeds = speeds(kind.application().name());
            rtx += kind.share() * speeds.rtx;
            a100 += kind.share() * speeds.a100;
        }
        return (3 + 3 * rtx + 2 * a100) / 8;
    }

    private static Speeds speeds(String application) {
        return Optional.ofNullable(SPEEDS.get(application)).orElseThrow();
    }

    private static TrainingTask onKinds(TrainingTask task) {
        Speeds speeds = speeds(task.job().application());
        Map<KindId, Double> real =
                new TreeMap<>(Map.of(SimulatedGpu.RTX6000.kind(), speeds.rtx, SimulatedGpu.A100.kind(), speeds.a100));
        List<KindTraits> traits = new ArrayList<>();
        real.forEach((kind, factor) -> traits.add(KindTraits.of(kind, new KindRatio(factor, UNCERTAINTY))));
        return task.onKinds(
                        new KindNeeds(List.of(), Optional.of(SimulatedGpu.T4.kind()), Optional.empty(), traits), real)
                .withLinks(LINKS);
    }
}
