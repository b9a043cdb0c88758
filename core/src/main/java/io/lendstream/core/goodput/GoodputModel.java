package io.lendstream.core.goodput;

/**
 * A job's goodput on any number of GPUs: throughput times statistical efficiency, in samples of the initial batch per
 * second.
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, sections 3.1 and 3.2</a>
 */
public record GoodputModel(ThroughputParameters throughput, GradientNoise noise, BatchRange range) {
    private static final int GRID = 50;
    private static final double ROUNDING = 1e-8;

    /** The best batch on a placement, and the goodput with it. */
    public record Best(Batch batch, double goodput) {}

    /** Seconds of a synchronised iteration, its accumulation steps included. */
    public double iterationSeconds(int nodes, int replicas, Batch batch) {
        return batch.accumulation() * throughput.accumulationSeconds(batch.local())
                + throughput.stepSeconds(nodes, replicas, batch.local());
    }

    /**
     * How much faster a job learns per iteration with {@code total} samples than with the initial batch (AdaScale):
     * from 1 to {@code total / initial}. Also the factor for its learning rate.
     */
    public double gain(int total) {
        double scale = (double) total / range.initial();
        double sum = noise.variance() / scale + noise.squared();
        return sum > 0 ? (noise.variance() + noise.squared()) / sum : 1;
    }

    /**
     * How much one sample teaches at a batch size, relative to the initial batch: a fraction in (0, 1].
     *
     * <p>{@code gain / scale}, which equals {@code (noiseScale + initial) / (noiseScale + total)}.
     */
    public double efficiency(int total) {
        return gain(total) * range.initial() / total;
    }

    /** Samples per second times statistical efficiency. */
    public double goodput(int nodes, int replicas, Batch batch) {
        int total = batch.total(replicas);
        return total / iterationSeconds(nodes, replicas, batch) * efficiency(total);
    }

    /**
     * The batch with the greatest goodput on a placement, over 50 total batch sizes in geometric steps from the least
     * that the job can have there to the most; of equal ones the smallest.
     *
     * <p>A first pass finds the most promising size by a bound on its goodput that takes no powers; a second one
     * computes those that the bound does not rule out, which are few.
     */
    public Best best(int nodes, int replicas) {
        if (range.fixed().isPresent()) {
            Batch batch = split(range, range.fixed().get(), replicas);
            return new Best(batch, goodput(nodes, replicas, batch));
        }
        double least = Math.max(range.initial(), (double) range.localMin() * replicas);
        double most = Math.max(least, range.max());
        double ratio = Math.pow(most / least, 1 / (GRID - 1.0));
        double network = throughput.networkSeconds(nodes, replicas);
        double together = Math.pow(2, 1 / throughput.gamma() - 1);
        double[] bounds = new double[GRID];
        double promising = least;
        double greatest = 0;
        double total = least;
        for (int i = 0; i < GRID; i++) {
            bounds[i] = goodputBound(split(range, total, replicas), replicas, network, together);
            if (bounds[i] > greatest) {
                greatest = bounds[i];
                promising = total;
            }
            total = i < GRID - 2 ? total * ratio : most;
        }
        Batch batch = split(range, promising, replicas);
        double reached = goodput(nodes, replicas, batch);
        Best best = new Best(batch, greatest > 0 ? 0 : reached);
        total = least;
        for (int i = 0; i < GRID && greatest > 0; i++) {
            if (bounds[i] >= reached) {
                batch = split(range, total, replicas);
                double goodput = goodput(nodes, replicas, batch);
                if (goodput > best.goodput) {
                    best = new Best(batch, goodput);
                }
            }
            total = i < GRID - 2 ? total * ratio : most;
        }
        return best;
    }

    /**
     * No less than the goodput of a batch; 0 if the batch does not fit. A synchronised step takes at least as long as
     * each of its parts, and, by the inequality of power means, at least {@code together} times their sum.
     */
    private double goodputBound(Batch batch, int replicas, double network, double together) {
        if (batch.local() < range.localMin() || batch.local() > range.localMax()) {
            return 0;
        }
        double total = batch.total(replicas);
        double compute = throughput.accumulationSeconds(batch.local());
        double step = Math.max(Math.max(compute, network), together * (compute + network));
        double seconds = batch.accumulation() * compute + step;
        double sum = noise.variance() + noise.squared();
        double teaching = sum > 0
                ? total * sum / (seconds * (noise.variance() * range.initial() + noise.squared() * total))
                : 1 / seconds;
        return range.initial() * teaching * (1 + ROUNDING);
    }

    /** Splits a total batch into local batch and accumulation steps, as the memory of one GPU allows. */
    static Batch split(BatchRange range, double total, int replicas) {
        double local = total / replicas;
        int accumulation = (int) Math.ceil(local / range.localMax() - ROUNDING) - 1;
        if (replicas == 1 && total > range.initial()) {
            accumulation = Math.max(1, accumulation);
        }
        accumulation = Math.max(0, accumulation);
        int each = (int) Math.ceil(local / (accumulation + 1) - ROUNDING);
        return new Batch(Math.max(1, Math.min(each, range.localMax())), accumulation);
    }
}
