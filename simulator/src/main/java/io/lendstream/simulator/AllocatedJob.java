package io.lendstream.simulator;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.simulator.workload.GpusByNode;
import io.lendstream.simulator.workload.GroundTruth;
import io.lendstream.simulator.workload.StepTime;
import io.lendstream.simulator.workload.TrainingTask;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A training job on GPUs.
 *
 * @param places the places of all GPUs
 */
record AllocatedJob(TrainingTask task, GpuPlaces places, Allocation allocation) {
    /** Progress per second: iterations at the initial batch size. */
    double goodput(int during) {
        StepTime step = step();
        double iteration = step.seconds() + allocation.accumulation() * step.accumulationSeconds();
        int total = totalBatch();
        GradientNoise noise = task.truth().noise(during, total);
        double scale = (double) total / task.job().traits().batch().initial();
        double sum = noise.variance() / scale + noise.squared();
        double gain = sum > 0 ? (noise.variance() + noise.squared()) / sum : 1;
        return gain / iteration;
    }

    /** A synchronised step, as long as on the slowest of its GPUs. */
    StepTime step() {
        return stepOnWholeGpus().fasterBy(places.pace(allocation.gpus()));
    }

    private StepTime stepOnWholeGpus() {
        GpusByNode placement = placement();
        StepTime step = task.truth().stepTime(placement, allocation.localBatch());
        return task.speeds().isEmpty()
                ? step
                : kinds().stream()
                        .map(kind -> task.stepOn(kind, step, placement.nodes()))
                        .max(Comparator.comparingDouble(StepTime::seconds))
                        .orElse(step);
    }

    /** The kind of its GPUs; empty if they are of several. */
    Optional<KindId> kind() {
        Set<KindId> kinds = kinds();
        return kinds.size() == 1 ? kinds.stream().findFirst() : Optional.empty();
    }

    private Set<KindId> kinds() {
        Set<KindId> kinds = new TreeSet<>();
        allocation
                .gpus()
                .forEach(gpu -> Optional.ofNullable(places.kinds().get(gpu)).ifPresent(kinds::add));
        return kinds;
    }

    /** Samples of all GPUs in one iteration. */
    int totalBatch() {
        return allocation.gpus().size() * allocation.localBatch() * (allocation.accumulation() + 1);
    }

    /** The report of the job at work. */
    TrainingProgress report(Instant at, double progress, int epoch) {
        GroundTruth truth = task.truth();
        GpusByNode placement = placement();
        StepTime step = step();
        GradientNoise noise = truth.noise(Math.min(epoch, truth.epochs() - 1), totalBatch());
        return new TrainingProgress(
                task.job().job(),
                task.job().domain(),
                at,
                JobPhase.RUNNING,
                progress,
                Optional.of(truth.totalProgress()),
                new TrainingProgress.Parallelism(
                        placement.nodes(), placement.replicas(), allocation.localBatch(), allocation.accumulation()),
                new TrainingProgress.StepTiming(Optional.of(step.seconds()), Optional.of(step.syncSeconds())),
                new TrainingProgress.GradientStatistics(Optional.of(noise.squared()), Optional.of(noise.variance())),
                kind());
    }

    /** The report of the job while it does not train. */
    TrainingProgress report(Instant at, JobPhase phase, double progress) {
        return new TrainingProgress(
                task.job().job(),
                task.job().domain(),
                at,
                phase,
                progress,
                Optional.of(task.truth().totalProgress()),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    /** How many GPUs it has on how many nodes. */
    GpusByNode placement() {
        Map<NodeId, Integer> counts = new TreeMap<>();
        for (GpuId gpu : allocation.gpus()) {
            Optional<NodeId> node = Optional.ofNullable(places.nodes().get(gpu));
            counts.merge(
                    node.orElseThrow(() -> new IllegalArgumentException("job %s was given %s, which is on no node"
                            .formatted(task.job().job(), gpu))),
                    1,
                    Integer::sum);
        }
        return GpusByNode.of(counts.values());
    }
}
