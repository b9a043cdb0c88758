package io.lendstream.simulator.forecasting;

import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Demand by equal steps, some of them missing. Steps lie on whole multiples of their length since 1970; {@link #value}
 * is in whatever unit the series came in.
 */
public final class RateSeries {
    private static final int MOST_STEPS = 20_000_000;
    private static final double LATEST_SECOND = 1e11;

    private final String name;
    private final Duration step;
    private final long firstStep;
    private final double[] values;

    /** @param values from the first step on, NaN for missing */
    public RateSeries(String name, Duration step, long firstStep, double... values) {
        this.name = name;
        this.step = step;
        this.firstStep = firstStep;
        this.values = values.clone();
    }

    /**
     * Reads {@code epoch_s,value} lines, gzip or not, in any order; an empty value is missing.
     *
     * @param step the mean of all values that lie in one is its value; those with none are missing
     */
    public static RateSeries read(Path file, Duration step) {
        List<CsvRow> rows = CsvTable.read(file, "epoch_s", "value").rows();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("%s has no lines, expected epoch_s,value".formatted(file));
        }
        double stepSeconds = step.toMillis() / 1000.0;
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (CsvRow row : rows) {
            long number = stepOf(row, stepSeconds);
            first = Math.min(first, number);
            last = Math.max(last, number);
        }
        if (last - first >= MOST_STEPS) {
            throw new IllegalArgumentException("%s spans %d steps of %s, expected at most %d; choose a longer step"
                    .formatted(file, last - first + 1, step, MOST_STEPS));
        }
        double[] sums = new double[(int) (last - first + 1)];
        int[] counts = new int[sums.length];
        for (CsvRow row : rows) {
            String value = row.text("value");
            if (!value.isEmpty() && !value.equalsIgnoreCase("nan")) {
                int index = (int) (stepOf(row, stepSeconds) - first);
                sums[index] += row.number("value", 0);
                counts[index]++;
            }
        }
        Arrays.setAll(sums, index -> counts[index] == 0 ? Double.NaN : sums[index] / counts[index]);
        RateSeries series = new RateSeries(nameOf(file), step, first, sums);
        double between = shortestGap(rows);
        if (between > stepSeconds) {
            throw new IllegalArgumentException(
                    "%s has a value every %.0f s, but the step is %.0f s; choose a step no shorter than that"
                            .formatted(file, between, stepSeconds));
        }
        return series;
    }

    private static long stepOf(CsvRow row, double stepSeconds) {
        double second = row.number("epoch_s", 0);
        if (second > LATEST_SECOND) {
            throw row.bad("epoch_s", "seconds since 1970");
        }
        return (long) Math.floor(second / stepSeconds);
    }

    private static double shortestGap(List<CsvRow> rows) {
        double[] seconds = rows.stream()
                .mapToDouble(row -> row.number("epoch_s", 0))
                .sorted()
                .toArray();
        double shortest = Double.POSITIVE_INFINITY;
        for (int i = 1; i < seconds.length; i++) {
            if (seconds[i] > seconds[i - 1]) {
                shortest = Math.min(shortest, seconds[i] - seconds[i - 1]);
            }
        }
        return shortest;
    }

    private static String nameOf(Path file) {
        String text = String.valueOf(file.getFileName());
        return text.replaceFirst("\\.gz$", "").replaceFirst("\\.csv$", "");
    }

    /** The series up to a step, counted from the first. */
    public RateSeries first(int steps) {
        return new RateSeries(name, step, firstStep, Arrays.copyOf(values, Math.min(steps, values.length)));
    }

    public String name() {
        return name;
    }

    public Duration step() {
        return step;
    }

    /** Number of the first step: its start divided by the step length. */
    public long firstStep() {
        return firstStep;
    }

    /** How many steps there are. */
    public int length() {
        return values.length;
    }

    /** Demand in a step, counted from the first; NaN for missing. */
    public double value(int index) {
        return values[index];
    }

    /** When a step, counted from the first, begins. */
    public double startSecond(int index) {
        return (firstStep + index) * (step.toMillis() / 1000.0);
    }
}
