package io.lendstream.simulator.published;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.BatchGrid;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import io.lendstream.simulator.workload.PolluxApplication;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** An application as measured: what a training job of it really does, by the arithmetic of the published simulators. */
final class ApplicationTrace {
    private static final double ROUNDING = 1e-8;

    private final PolluxApplication application;
    private final StepTable steps;
    private final NavigableMap<Integer, Epochs> validations;
    private final double[] progress;
    private final BatchGrid grid;

    /** The measurements at a total batch, epoch by epoch. */
    private static final class Epochs {
        private final double[] iterations;
        private final double[] squared;
        private final double[] variance;

        Epochs(int count) {
            iterations = new double[count];
            squared = new double[count];
            variance = new double[count];
        }
    }

    private ApplicationTrace(
            PolluxApplication application,
            StepTable steps,
            NavigableMap<Integer, Epochs> validations,
            double[] progress) {
        this.application = application;
        this.steps = steps;
        this.validations = validations;
        this.progress = progress;
        this.grid = new BatchGrid(application.batch());
    }

    static ApplicationTrace read(Path traces, PolluxApplication application, PublishedSettings.Timing timing) {
        Path folder = traces.resolve(application.name());
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException(
                    "there are no profiles of application %s: %s is no directory; give --profiles the published traces"
                            .formatted(application.name(), folder));
        }
        int epochs = application.epochs();
        double[] progress = new double[epochs];
        Arrays.fill(progress, Double.POSITIVE_INFINITY);
        NavigableMap<Integer, Epochs> validations = new TreeMap<>();
        for (int batch = application.batch().initial();
                batch <= application.batch().max();
                batch *= 2) {
            Path file = folder.resolve("validation-" + batch + ".csv");
            if (!Files.exists(file)) {
                continue;
            }
            CsvTable table = CsvTable.read(file, "progress", "iteration", "grad_sqr", "grad_var");
            Epochs read = new Epochs(epochs);
            for (int epoch = 0; epoch < epochs; epoch++) {
                CsvRow row = table.rows().get(epoch);
                progress[epoch] = Math.min(progress[epoch], row.number("progress", 0));
                read.iterations[epoch] = row.number("iteration", 0);
                read.squared[epoch] = row.number("grad_sqr", 0);
                read.variance[epoch] = row.number("grad_var", 0);
            }
            validations.put(batch, read);
        }
        return new ApplicationTrace(
                application, StepTable.read(folder, application.name(), timing), validations, progress);
    }

    PolluxApplication application() {
        return application;
    }

    /** The batches that may be chosen. */
    BatchGrid grid() {
        return grid;
    }

    int epochs() {
        return application.epochs();
    }

    /** Work done when an epoch, counted from 0, is over: iterations at the initial batch. */
    double progressAfter(int epoch) {
        return progress[epoch];
    }

    StepTable.Point step(int[] gpusByNode, int localBatch) {
        return steps.at(gpusByNode, localBatch);
    }

    /** Gradient statistics during an epoch at a total batch, linear between the measured batches around it. */
    GradientNoise noise(int totalBatch, int epoch) {
        return new GradientNoise(
                between(totalBatch, validation -> validation.squared[epoch]),
                between(totalBatch, validation -> validation.variance[epoch]));
    }

    /** Iterations from the end of an epoch, counted from 0, to the end of training; 1 after the last. */
    double remainingIterations(int totalBatch, int epoch) {
        int last = epochs() - 1;
        return epoch >= last
                ? 1
                : between(totalBatch, validation -> validation.iterations[last])
                        - between(totalBatch, validation -> validation.iterations[epoch]);
    }

    private interface Column {
        double of(Epochs validation);
    }

    private double between(int batch, Column column) {
        int low = validations.floorKey(batch);
        int high = validations.ceilingKey(batch);
        double below = column.of(validations.floorEntry(batch).getValue());
        if (low == high) {
            return below;
        }
        double above = column.of(validations.ceilingEntry(batch).getValue());
        return ((batch - low) * above + (high - batch) * below) / (high - low);
    }

    /**
     * A total batch split over GPUs, as far as their memory allows. On one GPU a batch above the initial is
     * accumulated.
     */
    Batch split(int totalBatch, int replicas) {
        return split(totalBatch, replicas, totalBatch > application.batch().initial());
    }

    /** As {@link #split(int, int)}, but for the schedulers that foresee step times: one GPU always accumulates. */
    Batch foreseen(int totalBatch, int replicas) {
        return split(totalBatch, replicas, true);
    }

    private Batch split(int totalBatch, int replicas, boolean accumulatesOnOne) {
        int local = (int) Math.ceil((double) totalBatch / replicas - ROUNDING);
        int accumulation = (int) Math.ceil((double) local / application.batch().localMax() - ROUNDING) - 1;
        if (replicas == 1 && accumulatesOnOne) {
            accumulation = Math.max(1, accumulation);
        }
        int each = (int) Math.ceil((double) local / (accumulation + 1) - ROUNDING);
        return new Batch(Math.min(each, largest(replicas, accumulation)), accumulation);
    }

    /** The largest local batch with which the total stays allowed. */
    int largest(int replicas, int accumulation) {
        return application.batch().max() / (replicas * (accumulation + 1));
    }

    /** GPUs packed onto as few nodes as can be. */
    static int[] packed(int gpus, int gpusPerNode) {
        List<Integer> nodes = new ArrayList<>();
        for (int left = gpus; left > 0; left -= gpusPerNode) {
            nodes.add(Math.min(left, gpusPerNode));
        }
        return nodes.stream().mapToInt(Integer::intValue).toArray();
    }
}
