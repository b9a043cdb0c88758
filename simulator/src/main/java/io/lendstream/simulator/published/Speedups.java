package io.lendstream.simulator.published;

import io.lendstream.core.policy.Goodput;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How much faster jobs go than with a fair share on one node; in proportion to GPUs where nothing is known of a job.
 *
 * @param fairShare GPUs
 */
record Speedups(int fairShare, Map<TrainingRun, Double> fairGoodput) {
    static Speedups over(int fairShare) {
        return new Speedups(fairShare, new HashMap<>());
    }

    double of(TrainingRun run, int nodes, int replicas) {
        Optional<Goodput> goodput = run.batches().goodput();
        if (goodput.isEmpty()) {
            return (double) replicas / fairShare;
        }
        double fair = fairGoodput.computeIfAbsent(run, any -> goodput.get().on(1, fairShare));
        return goodput.get().on(nodes, replicas) / fair;
    }
}
