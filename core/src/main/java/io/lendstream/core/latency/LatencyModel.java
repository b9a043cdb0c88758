package io.lendstream.core.latency;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The predicted times of a model's batches, and their uncertainty. Where batches of a slice and an input size were
 * measured often enough, that counts; elsewhere the hinge does.
 */
public final class LatencyModel {
    private final Hinge hinge;
    private final LatencyPrior prior;
    private final double noise;
    private final double[][] covariance;
    private final Map<LatencyBin, MeasuredCurve> curves = new TreeMap<>();

    LatencyModel(Hinge hinge, LatencyPrior prior, double noise, double[][] covariance) {
        this.hinge = hinge;
        this.prior = prior;
        this.noise = noise;
        this.covariance = covariance;
    }

    /** A model that was fitted, and bins that were measured since, in their order. */
    LatencyModel(FittedHinge fitted, LatencyPrior prior, List<MeasuredBin> bins) {
        this(fitted.hinge(), prior, fitted.noise(), rows(fitted.covariance()));
        bins.stream()
                .filter(MeasuredBin::isMeasured)
                .collect(Collectors.groupingBy(bin -> bin.bin().line()))
                .forEach((line, measured) -> curves.put(
                        line,
                        new MeasuredCurve(measured, bin -> risingLogMillis(line.slice(), bin.batch(), bin.size()))));
    }

    private static double[][] rows(List<Double> covariance) {
        double[][] rows = new double[Hinge.PARAMETERS][Hinge.PARAMETERS];
        for (int i = 0; i < covariance.size(); i++) {
            rows[i / Hinge.PARAMETERS][i % Hinge.PARAMETERS] = covariance.get(i);
        }
        return rows;
    }

    FittedHinge fitted() {
        return new FittedHinge(
                hinge,
                noise,
                Arrays.stream(covariance)
                        .flatMapToDouble(Arrays::stream)
                        .boxed()
                        .toList());
    }

    /** Milliseconds that are as likely to be too few as too many. */
    public double millis(Slice slice, int batch, double size) {
        MeasuredCurve curve = curves.get(LatencyBin.of(slice, batch, size).line());
        return Math.exp(
                curve == null
                        ? hinge.logMillis(slice, batch, size) + prior.correction(slice, batch, size)
                        : curve.logMillis(batch, risingLogMillis(slice, batch, size)));
    }

    /** Corrections change by steps between powers of two; where one falls, this stays at what it was at the step. */
    private double risingLogMillis(Slice slice, double batch, double size) {
        double most = Double.NEGATIVE_INFINITY;
        for (double power = 1; power < batch * Math.sqrt(2); power *= 2) {
            double last = Math.min(batch, power * Math.sqrt(2));
            most = Math.max(most, hinge.logMillis(slice, last, size) + prior.correction(slice, power, size));
        }
        return most;
    }

    /**
     * Standard deviation of the logarithm of a batch's time from {@link #millis}: 0.05 is about five per cent. Where
     * batches were measured often enough, it is theirs; elsewhere it has what the model is off where it was measured,
     * and how little is known elsewhere.
     */
    public double spread(Slice slice, int batch, double size) {
        LatencyBin bin = LatencyBin.of(slice, batch, size);
        return Optional.ofNullable(curves.get(bin.line()))
                .flatMap(curve -> curve.spread(bin))
                .orElseGet(() -> spreadOfHinge(slice, batch, size));
    }

    private double spreadOfHinge(Slice slice, int batch, double size) {
        return Math.sqrt(noise * noise + together(slice, batch, size, slice, batch, size));
    }

    /**
     * The common error of the predictions for two batches from uncertain parameters: the covariance of the logarithms
     * of {@link #millis}.
     */
    double together(Slice slice, int batch, double size, Slice otherSlice, int otherBatch, double otherSize) {
        double[] slopes = hinge.slopes(slice, batch, size);
        double[] others = hinge.slopes(otherSlice, otherBatch, otherSize);
        double sum = 0;
        for (int i = 0; i < slopes.length; i++) {
            for (int j = 0; j < slopes.length; j++) {
                sum += slopes[i] * covariance[i][j] * others[j];
            }
        }
        return sum;
    }

    /**
     * Milliseconds that are exceeded with a probability, by so many standard deviations: 1.64 for one in twenty, 2.33
     * for one in a hundred, as of a lognormal.
     */
    public double millisAtMost(Slice slice, int batch, double size, double deviations) {
        return millis(slice, batch, size) * Math.exp(deviations * spread(slice, batch, size));
    }

    public Hinge hinge() {
        return hinge;
    }
}
