package io.lendstream.simulator;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.simulator.workload.GpusByNode;
import io.lendstream.simulator.workload.StepTime;
import io.lendstream.simulator.workload.TrainingTask;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A training job on GPUs.
 *
 * @param nodes the node of every GPU
 */
record AllocatedJob(TrainingTask task, Map<GpuId, NodeId> nodes, Allocation allocation) {
    /** Progress per second: iterations at the initial batch size. */
    double goodput(int during) {
        StepTime step = task.truth().stepTime(placement(), allocation.localBatch());
        double iteration = step.seconds() + allocation.accumulation() * step.accumulationSeconds();
        int total = totalBatch();
        GradientNoise noise = task.truth().noise(during, total);
        double scale = (double) total / task.job().traits().batch().initial();
        double sum = noise.variance() / scale + noise.squared();
        double gain = sum > 0 ? (noise.variance() + noise.squared()) / sum : 1;
        return gain / iteration;
    }

    /** Samples of all GPUs in one iteration. */
    int totalBatch() {
        return allocation.gpus().size() * allocation.localBatch() * (allocation.accumulation() + 1);
    }

    /** How many GPUs it has on how many nodes. */
    GpusByNode placement() {
        Map<NodeId, Integer> counts = new TreeMap<>();
        for (GpuId gpu : allocation.gpus()) {
            Optional<NodeId> node = Optional.ofNullable(nodes.get(gpu));
            counts.merge(
                    node.orElseThrow(() -> new IllegalArgumentException("job %s was given %s, which is on no node"
                            .formatted(task.job().job(), gpu))),
                    1,
                    Integer::sum);
        }
        return GpusByNode.of(counts.values());
    }
}
