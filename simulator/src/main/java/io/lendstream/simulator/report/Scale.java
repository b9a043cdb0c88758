package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Text.DurationUnit;
import java.util.ArrayList;
import java.util.List;

/** An axis: where a value lies between its ends, and which values are marked. */
interface Scale {
    /** Marks of a logarithmic axis that spans many powers of ten, in seconds. */
    List<Double> MARKS = List.of(
            0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 14400.0, 43200.0, 86400.0, 259200.0, 604800.0, 2419200.0);

    /** Marks of one that spans few. */
    List<Double> DENSE_MARKS = List.of(
            0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0,
            7200.0, 14400.0, 28800.0, 43200.0, 86400.0, 172800.0, 345600.0, 604800.0, 1209600.0, 2419200.0);

    /** The smallest and the largest end of an axis that can be divided into steps. */
    double SMALLEST = 1e-300;

    double LARGEST = 1e300;

    /** Where the value lies: 0 at the low end, 1 at the high end; values beyond the ends lie on them. */
    double position(double value);

    List<Tick> ticks();

    /** A marked value. */
    record Tick(double value, String label) {}

    /**
     * Even steps from zero to at least {@code max}.
     *
     * @param about how many ticks there should be
     * @param wholeSteps whether only whole numbers are marked
     */
    static Scale linear(double max, int about, boolean wholeSteps) {
        // Beyond these a step, or the number of steps, would be no number any more
        double top = Double.isFinite(max) && max > 0 ? Math.min(LARGEST, Math.max(SMALLEST, max)) : 1;
        double step = niceStep(top / about);
        if (wholeSteps) {
            step = Math.max(1, Math.rint(step));
        }
        double end = Math.ceil(top / step - 1e-9) * step;
        List<Tick> ticks = new ArrayList<>();
        for (int i = 0; i * step <= end + step / 2; i++) {
            ticks.add(new Tick(i * step, Text.plain(i * step)));
        }
        return new Linear(0, end, ticks);
    }

    /** Virtual time in seconds from a start; ticks are numbers of {@link #timeUnit}. */
    static Scale time(double seconds) {
        double end = Double.isFinite(seconds) && seconds > 0 ? seconds : 1;
        DurationUnit unit = timeUnit(end);
        double span = end / unit.seconds();
        double[] steps = switch (unit) {
            case HOURS -> new double[] {0.5, 1, 2, 3, 6, 12, 24};
            case SECONDS, MINUTES, MILLISECONDS -> new double[] {0.1, 0.5, 1, 2, 5, 10, 15, 30, 60};
            case DAYS -> new double[] {0.5, 1, 2, 5, 7, 14, 28, 56, 112, 364};
        };
        double step = steps[steps.length - 1];
        for (int i = steps.length - 1; i >= 0 && span / steps[i] <= 13; i--) {
            step = steps[i];
        }
        List<Tick> ticks = new ArrayList<>();
        for (int i = 0; i * step <= span + 1e-9 && i < 100; i++) {
            ticks.add(new Tick(i * step * unit.seconds(), Text.plain(i * step)));
        }
        return new Linear(0, end, ticks);
    }

    static DurationUnit timeUnit(double seconds) {
        DurationUnit unit = DurationUnit.of(seconds);
        return unit == DurationUnit.MILLISECONDS ? DurationUnit.SECONDS : unit;
    }

    /** Lengths of time on a logarithmic axis. */
    static Scale logDuration(double minSeconds, double maxSeconds) {
        double low = Double.isFinite(minSeconds) ? Math.max(0.001, minSeconds) : 0.001;
        double high = Double.isFinite(maxSeconds) ? Math.max(low * 4, maxSeconds) : low * 4;
        List<Double> marks = high < low * 300 ? DENSE_MARKS : MARKS;
        List<Tick> ticks = new ArrayList<>();
        for (double mark : marks) {
            if (mark >= low * 0.999 && mark <= high * 1.001) {
                ticks.add(new Tick(mark, mark(mark)));
            }
        }
        return new Logarithmic(low, high, ticks);
    }

    private static String mark(double seconds) {
        for (DurationUnit unit : DurationUnit.values()) {
            if (seconds / unit.seconds() < 59.9 && (unit != DurationUnit.HOURS || seconds < 86400)) {
                return Text.plain(seconds / unit.seconds()) + " " + unit.symbol();
            }
        }
        return Text.duration(seconds, DurationUnit.DAYS);
    }

    /** Shares from everything down to {@code least}, a power of ten, on a logarithmic axis. */
    static Scale logShare(double least) {
        List<Tick> ticks = new ArrayList<>();
        for (double share = 1; share > least * 0.999; share /= 10) {
            ticks.add(new Tick(share, Text.plain(share * 100) + " %"));
        }
        return new Logarithmic(least, 1, ticks);
    }

    /** Whole shares: 0 to 100 %. */
    static Scale share() {
        return new Linear(
                0,
                1,
                List.of(
                        new Tick(0, "0 %"),
                        new Tick(0.25, "25 %"),
                        new Tick(0.5, "50 %"),
                        new Tick(0.75, "75 %"),
                        new Tick(1, "100 %")));
    }

    private static double niceStep(double step) {
        double power = Math.pow(10, Math.floor(Math.log10(step)));
        double digit = step / power;
        return power * (digit <= 1.0001 ? 1 : digit <= 2.0001 ? 2 : digit <= 5.0001 ? 5 : 10);
    }

    /** Equal differences are equal lengths. */
    record Linear(double low, double high, List<Tick> ticks) implements Scale {
        @Override
        public double position(double value) {
            double position = (value - low) / (high - low);
            return Double.isFinite(position) ? Math.min(1, Math.max(0, position)) : 0;
        }
    }

    /** Equal ratios are equal lengths. */
    record Logarithmic(double low, double high, List<Tick> ticks) implements Scale {
        @Override
        public double position(double value) {
            if (!(value > low)) {
                return 0;
            }
            return value >= high ? 1 : Math.log(value / low) / Math.log(high / low);
        }
    }
}
