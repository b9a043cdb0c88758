package io.lendstream.simulator.published;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A small cluster with a workload in the format of the published simulators, drawn by a seed. Training's nodes alone
 * have room for every job, and every job's batch can be split over all GPUs. Many rows arrive at a tick, and some at
 * once.
 *
 * @param trainingNodes nodes of training without lending
 */
record RandomRun(
        String policy,
        long seed,
        PublishedWorkload workload,
        PublishedSettings settings,
        boolean lending,
        int trainingNodes) {
    private static final int MOST_BATCH = 384;

    static RandomRun of(String policy, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int nodes = 2 + random.nextInt(3);
        int gpusPerNode = 1 + random.nextInt(4);
        int trainingNodes = 1 + random.nextInt(nodes - 1);
        List<PublishedWorkload.Row> rows = new ArrayList<>();
        int duration = random.nextBoolean() ? 4 : -1;
        int jobs = random.nextInt(6);
        for (int i = 0; i < jobs; i++) {
            int asked = 1 + random.nextInt(trainingNodes * gpusPerNode);
            int least = Math.max(12, 4 * nodes * gpusPerNode);
            int batch = least + random.nextInt(1 + Math.min(MOST_BATCH - least, 60));
            rows.add(new PublishedWorkload.Row("bert-" + i, second(random), "bert", asked, batch, duration));
        }
        int requests = random.nextInt(3) == 0 ? 0 : random.nextInt(40);
        int services = 1 + random.nextInt(3);
        for (int i = 0; i < requests; i++) {
            String service = "infer-bert-" + random.nextInt(services);
            rows.add(new PublishedWorkload.Row(
                    "inference-bert-" + i, second(random), service, 1, 1, 1 + random.nextInt(90)));
        }
        rows.sort(Comparator.comparingInt(PublishedWorkload.Row::second));
        PublishedSettings settings = PublishedSettings.of(policy, nodes, gpusPerNode)
                .withAfe(random.nextBoolean())
                .withWarmReplicas(random.nextInt(4) > 0)
                .withTiming(random.nextBoolean() ? PublishedSettings.Timing.DEEPBOOT : PublishedSettings.Timing.POLLUX);
        return new RandomRun(
                policy,
                seed,
                new PublishedWorkload("random", rows),
                settings.withHalves(settings.halves() ^ random.nextInt(4) == 0),
                random.nextInt(4) > 0,
                trainingNodes);
    }

    private static int second(SplittableRandom random) {
        return random.nextInt(3) == 0 ? 60 * random.nextInt(30) : random.nextInt(1800);
    }

    /** What runs apart from each other: everything, or without lending training and inference. */
    List<Part> parts() {
        return lending
                ? List.of(new Part(workload, settings))
                : List.of(
                        new Part(workload.training(), settings.withNodes(trainingNodes)),
                        new Part(workload.inference(), settings.withNodes(settings.nodes() - trainingNodes)));
    }

    /** A workload on nodes of its own. */
    record Part(PublishedWorkload workload, PublishedSettings settings) {}

    @Override
    public String toString() {
        return "RandomRun.of(\"%s\", %dL): %s, lending %s, training nodes %d, %s"
                .formatted(policy, seed, settings, lending, trainingNodes, workload.rows());
    }
}
