package io.lendstream.simulator.forecasting;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.HorizonQuantiles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Adds up what forecasts at one horizon came to. */
final class Tally {
    /** One in so many rises is a steep one. */
    private static final int STEEP = 10;

    private final Optional<ReplicaCapacity> capacity;
    private final List<Rise> rises = new ArrayList<>();
    private double actuals;
    private double errors;
    private double pinball90;
    private double pinball99;
    private double p99;
    private int under10;
    private int under90;
    private int under99;
    private double gpus99;
    private double gpusNeeded;
    private int gpusEnough;

    private record Rise(double by, boolean covered) {}

    /** @param capacity of a replica; with it, GPUs are counted, too */
    Tally(Optional<ReplicaCapacity> capacity) {
        this.capacity = capacity;
    }

    /** @param before what it was when the forecast was made */
    void add(HorizonQuantiles said, double actual, double before) {
        actuals += actual;
        errors += Math.abs(actual - said.p50());
        pinball90 += pinball(said.p90(), actual, 0.9);
        pinball99 += pinball(said.p99(), actual, 0.99);
        p99 += said.p99();
        under10 += actual <= said.p10() ? 1 : 0;
        under90 += actual <= said.p90() ? 1 : 0;
        under99 += actual <= said.p99() ? 1 : 0;
        rises.add(new Rise(actual - before, actual <= said.p99()));
        capacity.ifPresent(each -> addGpus(each.gpusFor(said.p99()), each.gpusFor(actual)));
    }

    private void addGpus(int ready, int needed) {
        gpus99 += ready;
        gpusNeeded += needed;
        gpusEnough += needed <= ready ? 1 : 0;
    }

    private static double pinball(double quantile, double actual, double probability) {
        return actual > quantile ? probability * (actual - quantile) : (1 - probability) * (quantile - actual);
    }

    /** @param naive the error that MASE is a multiple of */
    Score score(RateSeries series, Duration horizon, String model, double naive) {
        int scored = rises.size();
        rises.sort(Comparator.comparingDouble(Rise::by).reversed());
        List<Rise> steep = rises.subList(0, scored / STEEP);
        double covered = steep.stream().filter(Rise::covered).count();
        double count = scored;
        return new Score(
                series.name(),
                series.step(),
                horizon,
                model,
                scored,
                new Score.Errors(
                        errors / count,
                        errors / actuals,
                        errors / count / naive,
                        pinball90 / actuals,
                        pinball99 / actuals),
                new Score.Covered(under10 / count, under90 / count, under99 / count, covered / steep.size()),
                p99 / actuals,
                capacity.map(any -> new Score.InGpus(gpus99 / count, gpusNeeded / count, gpusEnough / count)));
    }
}
