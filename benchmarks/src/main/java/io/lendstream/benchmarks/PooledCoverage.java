package io.lendstream.benchmarks;

import io.lendstream.simulator.forecasting.Score;
import java.util.Map;

/** How often demand stayed under each quantile, over all forecasts of all series and horizons. */
final class PooledCoverage {
    private double count;
    private double under10;
    private double under90;
    private double under99;
    private double rises;
    private double underOnRises;

    void add(Score score) {
        count += score.scored();
        under10 += score.scored() * score.covered().p10();
        under90 += score.scored() * score.covered().p90();
        under99 += score.scored() * score.covered().p99();
        double steep = Math.floor(score.scored() / 10.0);
        rises += steep;
        underOnRises += steep * score.covered().p99OnRises();
    }

    double under90() {
        return under90 / count;
    }

    double under99() {
        return under99 / count;
    }

    void put(String model, Map<String, Double> metrics) {
        metrics.put(model + " under p10", under10 / count);
        metrics.put(model + " under p90", under90());
        metrics.put(model + " under p99", under99());
        metrics.put(model + " under p99 on steep rises", underOnRises / rises);
    }

    @Override
    public String toString() {
        return "under p10 %.4f, p90 %.4f, p99 %.4f, p99 on the steepest tenth of rises %.4f"
                .formatted(under10 / count, under90(), under99(), underOnRises / rises);
    }
}
