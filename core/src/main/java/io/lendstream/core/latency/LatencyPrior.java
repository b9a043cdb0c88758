package io.lendstream.core.latency;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The expectation for a model before measurements, from measured models. It has the means and spreads of their
 * parameters, and the usual error of the hinge on a slice with a batch.
 *
 * @param means of five figures: log of fixed to proportional part, exponents of compute and memory, log of floor to
 *     fixed part, log of curvature
 * @param spreads standard deviations of these
 * @param corrections the terms added to the logarithm of the hinge's milliseconds, by slice, batch and size; only where
 *     known models were measured
 */
public record LatencyPrior(List<Double> means, List<Double> spreads, Map<Place, Double> corrections) {
    static final int FIGURES = 5;

    private static final double[] LEAST_SPREADS = {.3, .08, .08, .3, .3};
    private static final double MEDIAN_TO_DEVIATION = 1.4826;
    /** As many imagined models of which the hinge was right. */
    private static final double SCEPTICISM = 2;

    /**
     * Where a hinge may be off: batches and sizes count by the nearest power of two.
     */
    record Place(Slice slice, int batch, int size) implements Comparable<Place> {
        static Place of(Slice slice, double batch, double size) {
            return new Place(slice, (int) Math.rint(log2(batch)), (int) Math.rint(log2(size)));
        }

        private static double log2(double value) {
            return Math.log(value) / Math.log(2);
        }

        @Override
        public int compareTo(Place other) {
            int order = slice.compareTo(other.slice);
            order = order != 0 ? order : Integer.compare(batch, other.batch);
            return order != 0 ? order : Integer.compare(size, other.size);
        }
    }

    /**
     * Without measurements of other models: medians of the eleven models that ParvaGPU measured on A100 (SC 2024), with
     * wide spreads. A curvature of 1 is that of encoders of up to 512 tokens in MIGPerf's tables (arXiv 2301.00407).
     */
    public static final LatencyPrior WIDE =
            new LatencyPrior(List.of(.3, .5, .35, .8, 0.0), List.of(1.5, .2, .15, 1.0, 1.0), Map.of());

    public LatencyPrior {
        means = List.copyOf(means);
        spreads = List.copyOf(spreads);
        corrections = Map.copyOf(corrections);
        if (means.size() != FIGURES
                || spreads.size() != FIGURES
                || !spreads.stream().allMatch(spread -> spread > 0)) {
            throw new IllegalArgumentException("a latency prior has %d means and %d spreads above 0, but had %s and %s"
                    .formatted(FIGURES, FIGURES, means, spreads));
        }
    }

    /**
     * From models that were measured thoroughly.
     *
     * @param models the samples of each; with fewer than three models nothing is concluded
     */
    public static LatencyPrior of(List<List<LatencySample>> models) {
        if (models.size() < 3) {
            return WIDE;
        }
        List<Hinge> hinges = models.stream()
                .map(samples -> LatencyFit.hinge(LatencyFit.points(samples), WIDE))
                .toList();
        List<Double> means = new ArrayList<>();
        List<Double> spreads = new ArrayList<>();
        for (int i = 0; i < FIGURES; i++) {
            int figure = i;
            double[] values =
                    hinges.stream().mapToDouble(hinge -> figures(hinge)[figure]).toArray();
            double mean = median(values);
            means.add(mean);
            double spread = median(
                    Arrays.stream(values).map(value -> Math.abs(value - mean)).toArray());
            spreads.add(Math.max(LEAST_SPREADS[i], MEDIAN_TO_DEVIATION * spread));
        }
        return new LatencyPrior(means, spreads, corrections(models, hinges));
    }

    /** Means, not medians: what takes long now and then is what hurts. */
    private static Map<Place, Double> corrections(List<List<LatencySample>> models, List<Hinge> hinges) {
        Map<Place, List<Double>> off = new TreeMap<>();
        for (int i = 0; i < models.size(); i++) {
            Hinge hinge = hinges.get(i);
            for (LatencySample sample : models.get(i)) {
                double error =
                        Math.log(sample.millis()) - hinge.logMillis(sample.slice(), sample.batch(), sample.size());
                off.computeIfAbsent(Place.of(sample.slice(), sample.batch(), sample.size()), place -> new ArrayList<>())
                        .add(error);
            }
        }
        Map<Place, Double> corrections = new TreeMap<>();
        off.forEach((place, errors) -> corrections.put(
                place,
                errors.stream().mapToDouble(Double::doubleValue).average().orElseThrow()
                        * errors.size()
                        / (errors.size() + SCEPTICISM)));
        return corrections;
    }

    double correction(Slice slice, double batch, double size) {
        return corrections.getOrDefault(Place.of(slice, batch, size), 0.0);
    }

    /** The figures that {@link #means} speaks of. */
    static double[] figures(Hinge hinge) {
        return new double[] {
            hinge.logFixed() - hinge.logPerInput(),
            hinge.compute(),
            hinge.memory(),
            hinge.logFloor() - hinge.logFixed(),
            hinge.logCurvature()
        };
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
