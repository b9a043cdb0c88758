package io.lendstream.simulator.published;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.util.Arrays;
import java.util.Optional;

/** A training job as the published simulators run it: progress in whole seconds from one event to the next. */
final class TrainingRun {
    private static final int[] NOWHERE = {};

    private final JobId id;
    private final PublishedWorkload.Row row;
    private final ApplicationTrace trace;
    private final Batches batches;

    private int[] nodes = NOWHERE;
    private int[] placement = NOWHERE;
    private int replicas;
    private Batch batch = new Batch(0, 0);
    private int pause;
    private int epoch;
    private double progress;
    private long attained;
    private long paused;
    private int largestRun;
    private int started = -1;
    private int completed = -1;
    private int restarts;
    private Optional<QueuePosition> standing = Optional.empty();
    private Speed speed = Speed.NONE;

    /**
     * How it gets on at its placement and batch in its epoch.
     *
     * @param progress per second, in iterations at the initial batch
     */
    private record Speed(int epoch, Batch batch, double progress) {
        private static final Speed NONE = new Speed(-1, new Batch(0, 0), 0);
    }

    TrainingRun(PublishedWorkload.Row row, ApplicationTrace trace, Batches batches) {
        this.id = new JobId(row.name());
        this.row = row;
        this.trace = trace;
        this.batches = batches;
    }

    JobId id() {
        return id;
    }

    PublishedWorkload.Row row() {
        return row;
    }

    ApplicationTrace trace() {
        return trace;
    }

    Batches batches() {
        return batches;
    }

    /** The node of each of its GPUs, in the order of its replicas. */
    int[] nodes() {
        return nodes;
    }

    int gpus() {
        return replicas;
    }

    /** GPUs that it has on a node and those after it. */
    int gpusFrom(int node) {
        int count = 0;
        for (int each : nodes) {
            count += each >= node ? 1 : 0;
        }
        return count;
    }

    int epoch() {
        return epoch;
    }

    int largestRun() {
        return largestRun;
    }

    int restarts() {
        return restarts;
    }

    long attainedGpuSeconds() {
        return attained;
    }

    long pausedGpuSeconds() {
        return paused;
    }

    /** The second of its first start; -1 before. */
    int started() {
        return started;
    }

    /** The second it was done; -1 before. */
    int completed() {
        return completed;
    }

    boolean isDone() {
        return completed >= 0;
    }

    double shareDone() {
        return progress / trace.progressAfter(trace.epochs() - 1);
    }

    Optional<QueuePosition> standing() {
        return standing;
    }

    void standing(QueuePosition next) {
        standing = Optional.of(next);
    }

    /** Goes on for some seconds after {@code from}. */
    void advance(int from, int seconds) {
        if (replicas == 0 || isDone()) {
            return;
        }
        int pausing = Math.min(pause, seconds);
        pause -= pausing;
        attained += (long) pausing * replicas;
        paused += (long) pausing * replicas;
        int now = from + pausing;
        int left = seconds - pausing;
        while (left > 0 && !isDone()) {
            double perSecond = speed();
            double end = trace.progressAfter(epoch);
            int spent = left;
            if (progress + perSecond * left < end) {
                progress += perSecond * left;
            } else {
                spent = (int) Math.rint((end - progress) / perSecond);
                progress = end;
                epoch++;
                if (epoch == trace.epochs()) {
                    completed = now + spent;
                }
            }
            now += spent;
            left -= spent;
            attained += (long) spent * replicas;
            tuneBatch();
        }
    }

    /** Progress per second; the chooser of the batch learns from it. */
    private double speed() {
        if (speed.epoch != epoch || !speed.batch.equals(batch)) {
            StepTable.Point step = trace.step(placement, batch.local());
            int total = batch.total(replicas);
            GradientNoise noise = trace.noise(total, epoch);
            double scale = (double) total / trace.application().batch().initial();
            double gain = (noise.variance() + noise.squared()) / (noise.variance() / scale + noise.squared());
            double accumulating = step.seconds() - step.syncSeconds();
            double iteration = step.seconds() + accumulating * batch.accumulation();
            speed = new Speed(epoch, batch, gain / iteration);
            largestRun = Math.max(largestRun, replicas);
            batches.observed(placement.length, replicas, step, noise);
        }
        return speed.progress;
    }

    private void tuneBatch() {
        Batch chosen = batches.choose(placement.length, replicas);
        int largest = trace.largest(replicas, chosen.accumulation());
        batch = chosen.local() <= largest ? chosen : new Batch(largest, chosen.accumulation());
    }

    /**
     * Gives it GPUs. Any difference, be it only in the order of nodes, is a restart, as in the published simulators.
     *
     * @param next the node of each GPU
     */
    void allocate(int[] next, int now, Pauses pauses) {
        if (Arrays.equals(nodes, next)) {
            return;
        }
        int before = replicas;
        nodes = next;
        replicas = next.length;
        if (replicas == 0) {
            placement = NOWHERE;
            return;
        }
        placement = runs(next);
        speed = Speed.NONE;
        tuneBatch();
        pause = pauses.seconds(trace.application().costs(), before, replicas);
        if (started < 0) {
            started = now;
        } else {
            restarts++;
        }
    }

    /** Lengths of the runs of equal nodes. */
    private static int[] runs(int[] nodes) {
        int[] lengths = new int[nodes.length];
        int runs = 0;
        for (int i = 0; i < nodes.length; i++) {
            if (i > 0 && nodes[i] != nodes[i - 1]) {
                runs++;
            }
            lengths[runs]++;
        }
        return Arrays.copyOf(lengths, runs + 1);
    }
}
