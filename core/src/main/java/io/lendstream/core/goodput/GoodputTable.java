package io.lendstream.core.goodput;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The best batches of a job with fixed throughput and changing gradient noise. Step times are computed once for each
 * placement, and only efficiency is computed again. Gives what {@link GoodputModel#best} gives, many times over.
 *
 * <p>Remembers what it worked out; not for several threads.
 */
public final class GoodputTable {
    private final ThroughputParameters throughput;
    private final BatchGrid grid;
    private final GoodputModel model;
    private final Map<Integer, Placed> onOneNode = new HashMap<>();
    private final Map<Integer, Placed> onSeveral = new HashMap<>();

    /** Seconds of each batch on a placement, and the best batch of late. */
    private static final class Placed {
        private final double[] seconds;
        private GradientNoise noise = new GradientNoise(0, 0);
        private Optional<GoodputModel.Best> best = Optional.empty();

        Placed(double[] seconds) {
            this.seconds = seconds;
        }
    }

    /**
     * @param throughput as known now
     * @param grid the batches to choose from; shared by all jobs with the same range
     */
    public GoodputTable(ThroughputParameters throughput, BatchGrid grid) {
        this.throughput = throughput;
        this.grid = grid;
        this.model = new GoodputModel(throughput, new GradientNoise(0, 0), grid.range());
    }

    /** The best batch on a placement while gradients are as noisy as this; goodput 0 where none fits. */
    public GoodputModel.Best best(GradientNoise noise, int nodes, int replicas) {
        Placed placed = (nodes > 1 ? onSeveral : onOneNode)
                .computeIfAbsent(replicas, any -> new Placed(seconds(nodes, replicas)));
        if (placed.best.isEmpty() || !placed.noise.equals(noise)) {
            placed.noise = noise;
            placed.best = Optional.of(best(noise, grid.row(replicas), placed.seconds));
        }
        return placed.best.get();
    }

    private GoodputModel.Best best(GradientNoise noise, BatchGrid.Row row, double[] seconds) {
        double initial = grid.range().initial();
        double noisy = noise.variance() + noise.squared();
        int best = 0;
        double most = 0;
        for (int i = 0; i < seconds.length; i++) {
            double scale = row.total(i) / initial;
            double sum = noise.variance() / scale + noise.squared();
            double gain = sum > 0 ? noisy / sum : 1;
            double goodput = row.total(i) / seconds[i] * (gain / scale);
            if (goodput > most) {
                most = goodput;
                best = i;
            }
        }
        return new GoodputModel.Best(row.batch(best), most);
    }

    private double[] seconds(int nodes, int replicas) {
        BatchGrid.Row row = grid.row(replicas);
        double gamma = throughput.gamma();
        double network = Math.pow(model.throughput().networkSeconds(nodes, replicas), gamma);
        double[] seconds = new double[row.size()];
        for (int i = 0; i < seconds.length; i++) {
            double compute = model.throughput().accumulationSeconds(row.batch(i).local());
            seconds[i] =
                    row.batch(i).accumulation() * compute + Math.pow(Math.pow(compute, gamma) + network, 1 / gamma);
        }
        return seconds;
    }
}
