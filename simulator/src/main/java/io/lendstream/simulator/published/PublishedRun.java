package io.lendstream.simulator.published;

import java.util.List;

/**
 * What came of a run.
 *
 * @param computingGpuSeconds GPU time in which jobs trained, until the last of them arrived
 * @param secondHalfGpuSeconds GPU time that jobs held on the second half of the nodes
 */
record PublishedRun(
        List<TrainingRun> trainings,
        List<RequestBatchRun> requests,
        double computingGpuSeconds,
        double secondHalfGpuSeconds) {
    PublishedRun {
        trainings = List.copyOf(trainings);
        requests = List.copyOf(requests);
    }
}
