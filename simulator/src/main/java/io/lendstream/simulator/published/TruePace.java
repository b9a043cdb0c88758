package io.lendstream.simulator.published;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.policy.Pace;

/** The pace of jobs for published policies with known durations: that of the measurements themselves. */
final class TruePace implements Pace {
    private final TrainingRun run;
    private final int batch;
    private final int gpusPerNode;
    private double[] seconds = {};
    private int[] samples = {};

    TruePace(TrainingRun run, int batch, int gpusPerNode) {
        this.run = run;
        this.batch = batch;
        this.gpusPerNode = gpusPerNode;
    }

    @Override
    public double iterationSeconds(int gpus) {
        know(gpus);
        return seconds[gpus];
    }

    @Override
    public int iterationSamples(int gpus) {
        know(gpus);
        return samples[gpus];
    }

    @Override
    public double remainingIterations() {
        return run.trace().remainingIterations(batch, run.epoch());
    }

    private void know(int gpus) {
        if (gpus >= seconds.length) {
            seconds = java.util.Arrays.copyOf(seconds, gpus + 1);
            samples = java.util.Arrays.copyOf(samples, gpus + 1);
        }
        if (samples[gpus] == 0) {
            Batch split = run.trace().foreseen(batch, gpus);
            StepTable.Point step = run.trace().step(ApplicationTrace.packed(gpus, gpusPerNode), split.local());
            seconds[gpus] = step.seconds() + (step.seconds() - step.syncSeconds()) * split.accumulation();
            samples[gpus] = split.total(gpus);
        }
    }
}
