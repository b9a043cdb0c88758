package io.lendstream.core.policy;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.SpeedOnKind;
import java.util.Optional;

/**
 * A pace by the goodput model of a kind of GPU. For a job that does not report its total work, the remaining work is
 * assumed to equal the work done: the best guess for run times over orders of magnitude.
 *
 * @param progress work done, in iterations at the initial batch
 * @param totalProgress the total work, if the job reports it
 */
record ModelPace(SpeedOnKind speed, int gpusPerNode, double progress, Optional<Double> totalProgress) implements Pace {
    @Override
    public double iterationSeconds(int gpus) {
        return model().iterationSeconds(nodes(gpus), gpus, batch(gpus)) / speed.factor();
    }

    @Override
    public int iterationSamples(int gpus) {
        return batch(gpus).total(gpus);
    }

    @Override
    public double remainingIterations() {
        return Math.max(1, totalProgress.map(total -> total - progress).orElse(progress));
    }

    @Override
    public boolean isTotalKnown() {
        return totalProgress.isPresent();
    }

    /**
     * By goodput: an iteration with a larger batch gets further than one with the initial batch, in which work is
     * counted.
     */
    @Override
    public double remainingSeconds(int gpus) {
        double goodput = speed.packed(gpusPerNode, gpus);
        return remainingIterations() * model().range().initial() / goodput;
    }

    private Batch batch(int gpus) {
        return model().best(nodes(gpus), gpus).batch();
    }

    private GoodputModel model() {
        return speed.known().model();
    }

    private int nodes(int gpus) {
        return (gpus + gpusPerNode - 1) / gpusPerNode;
    }
}
