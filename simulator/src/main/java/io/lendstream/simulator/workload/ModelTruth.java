package io.lendstream.simulator.workload;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import java.util.List;

/**
 * A job that behaves exactly as the seven-parameter model says, with gradients that get noisier from epoch to epoch.
 *
 * @param noise gradient statistics of each epoch; epochs are equally long
 * @param totalProgress work to be done, in iterations at the initial batch size
 */
public record ModelTruth(
        ThroughputParameters throughput, List<GradientNoise> noise, BatchRange batch, double totalProgress)
        implements GroundTruth {
    public ModelTruth {
        noise = List.copyOf(noise);
        if (noise.isEmpty() || !(totalProgress > 0)) {
            throw new IllegalArgumentException(
                    "there must be at least one epoch and work to do, but there were %d epochs and %s iterations"
                            .formatted(noise.size(), totalProgress));
        }
    }

    @Override
    public StepTime stepTime(GpusByNode placement, int localBatch) {
        GoodputModel model = new GoodputModel(throughput, noise.get(0), batch);
        double step = model.iterationSeconds(placement.nodes(), placement.replicas(), new Batch(localBatch, 0));
        return new StepTime(step, Math.max(0, step - model.throughput().accumulationSeconds(localBatch)));
    }

    @Override
    public int epochs() {
        return noise.size();
    }

    @Override
    public double progressAfter(int epoch) {
        return totalProgress * (epoch + 1) / noise.size();
    }

    @Override
    public GradientNoise noise(int epoch, int totalBatch) {
        return noise.get(epoch);
    }
}
