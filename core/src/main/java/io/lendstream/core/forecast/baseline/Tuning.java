package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.PointModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Settings of the baselines that depend on the series.
 *
 * @param ewmaAlphas of the moving average, one a horizon
 * @param alpha of Holt-Winters; gamma and phi likewise, see {@link HoltWinters}
 */
public record Tuning(List<Double> ewmaAlphas, double alpha, double gamma, double phi) {
    private static final double[] EWMA_ALPHAS = {
        0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1
    };
    private static final double[] ALPHAS = {0, 0.003, 0.01, 0.03, 0.1};
    private static final double[] GAMMAS = {0.02, 0.05, 0.1, 0.2, 0.3, 0.5};
    private static final double[] PHIS = {0.3, 0.7, 0.9, 0.95};
    /** The first part of the training series is for models to settle in. */
    private static final double SETTLING = 0.3;

    public Tuning {
        ewmaAlphas = List.copyOf(ewmaAlphas);
    }

    /** The values for an unknown series. */
    public static Tuning untuned(ForecastSettings settings) {
        return new Tuning(Collections.nCopies(settings.horizons().size(), 0.3), 0.03, 0.1, 0.7);
    }

    /**
     * What would have erred least on a series, in requests: the moving average at each horizon for itself, Holt-Winters
     * over all horizons, each in proportion to the error of the first candidate there.
     *
     * @param firstStep number of the series' first step
     * @param requests of each step, NaN for missing
     */
    public static Tuning on(ForecastSettings settings, long firstStep, double... requests) {
        int horizons = settings.horizons().size();
        double[] least = new double[horizons];
        Arrays.fill(least, Double.POSITIVE_INFINITY);
        List<Double> alphas = new ArrayList<>(untuned(settings).ewmaAlphas());
        for (double alpha : EWMA_ALPHAS) {
            double[] errors = errors(settings, new Ewma(alpha), firstStep, requests);
            for (int horizon = 0; horizon < horizons; horizon++) {
                if (errors[horizon] < least[horizon]) {
                    least[horizon] = errors[horizon];
                    alphas.set(horizon, alpha);
                }
            }
        }
        List<Tuning> candidates = new ArrayList<>();
        List<double[]> errors = new ArrayList<>();
        for (double alpha : ALPHAS) {
            for (double gamma : GAMMAS) {
                for (double phi : PHIS) {
                    candidates.add(new Tuning(alphas, alpha, gamma, phi));
                    errors.add(errors(settings, new HoltWinters(settings, alpha, gamma, phi), firstStep, requests));
                }
            }
        }
        return candidates.get(leastInProportion(errors));
    }

    /** Which row is least over all columns, each in proportion to the first row. */
    private static int leastInProportion(List<double[]> rows) {
        double[] first = rows.get(0);
        int best = 0;
        double leastSum = Double.POSITIVE_INFINITY;
        for (int row = 0; row < rows.size(); row++) {
            double[] values = rows.get(row);
            double sum = IntStream.range(0, first.length)
                    .mapToDouble(i -> values[i] / first[i])
                    .sum();
            if (sum < leastSum) {
                leastSum = sum;
                best = row;
            }
        }
        return best;
    }

    /** Mean absolute error at each horizon after settling in; NaN if the model made no forecast. */
    private static double[] errors(ForecastSettings settings, PointModel model, long firstStep, double... requests) {
        int[] horizons = settings.horizonSteps();
        RecentOutcomes[] said = RecentOutcomes.ofEach(horizons);
        double[] sums = new double[horizons.length];
        int[] counts = new int[horizons.length];
        for (int index = 0; index < requests.length; index++) {
            long step = firstStep + index;
            boolean known = !Double.isNaN(requests[index]);
            for (int horizon = 0; horizon < horizons.length; horizon++) {
                double forecast = said[horizon].at(step);
                if (known && !Double.isNaN(forecast) && index - horizons[horizon] >= SETTLING * requests.length) {
                    sums[horizon] += Math.abs(Math.expm1(forecast) - requests[index]);
                    counts[horizon]++;
                }
            }
            if (known) {
                model.observe(step, Math.log1p(requests[index]));
            } else {
                model.miss(step);
            }
            for (int horizon = 0; horizon < horizons.length; horizon++) {
                said[horizon].put(step, known ? model.ahead(horizon) : Double.NaN);
            }
        }
        for (int horizon = 0; horizon < horizons.length; horizon++) {
            sums[horizon] /= counts[horizon];
        }
        return sums;
    }

    public PointModel ewma() {
        return new PerHorizon(ewmaAlphas.stream().map(Ewma::new).toList());
    }

    public PointModel holtWinters(ForecastSettings settings) {
        return new HoltWinters(settings, alpha, gamma, phi);
    }

    /** Each with the moving average in its place while it has no forecast. */
    public PointModel orEwma(PointModel model) {
        return new Fallback(model, ewma());
    }

    /** The moving average, Holt-Winters and the harmonic regression. */
    public List<PointModel> three(ForecastSettings settings) {
        return List.of(ewma(), holtWinters(settings), new HarmonicAr(settings));
    }

    /** These and the seasonal one. */
    public List<PointModel> four(ForecastSettings settings) {
        return Stream.concat(three(settings).stream(), Stream.of(new SeasonalNaive(settings)))
                .toList();
    }
}
