package io.lendstream.core.lending;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GoodputModel;

/**
 * A pace by the goodput model. Nobody says how long a job will run, so it is taken to have as much before it as behind it: the
 * best guess where run times spread over orders of magnitude.
 *
 * @param progress work done, in iterations at the initial batch
 */
record ModelPace(GoodputModel model, int gpusPerNode, double progress) implements Pace {
    @Override
    public double iterationSeconds(int gpus) {
        return model.iterationSeconds(nodes(gpus), gpus, batch(gpus));
    }

    @Override
    public int iterationSamples(int gpus) {
        return batch(gpus).total(gpus);
    }

    @Override
    public double remainingIterations() {
        return Math.max(1, progress);
    }

    private Batch batch(int gpus) {
        return model.best(nodes(gpus), gpus).batch();
    }

    private int nodes(int gpus) {
        return (gpus + gpusPerNode - 1) / gpusPerNode;
    }
}
