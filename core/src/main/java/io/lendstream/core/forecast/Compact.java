package io.lendstream.core.forecast;

/** Numbers in two bytes each, since a state is kept for every service. */
public final class Compact {
    private static final short NOTHING = Short.MIN_VALUE;
    private static final double PER_UNIT = 1200;
    private static final double PER_FACTOR = 650;
    /** Where logarithms are counted from: amounts reach from 1e-16 of a request to 1e24. */
    private static final double MIDDLE = Math.log(1e4);

    private Compact() {}

    /** A number between -27 and 27 to within 0.0005, as log errors are. NaN stays NaN. */
    public static short number(double value) {
        return Double.isNaN(value) ? NOTHING : clipped(value * PER_UNIT);
    }

    public static double number(short stored) {
        return stored == NOTHING ? Double.NaN : stored / PER_UNIT;
    }

    /** An amount that is not negative to within 0.1 %. NaN stays NaN. */
    public static short amount(double value) {
        return Double.isNaN(value) ? NOTHING : clipped((Math.log(value) - MIDDLE) * PER_FACTOR);
    }

    public static double amount(short stored) {
        if (stored == NOTHING) {
            return Double.NaN;
        }
        return stored == NOTHING + 1 ? 0 : Math.exp(stored / PER_FACTOR + MIDDLE);
    }

    /** An amount as it comes back when it was kept. */
    public static double rounded(double value) {
        return amount(amount(value));
    }

    private static short clipped(double scaled) {
        return (short) Math.max(NOTHING + 1, Math.min(Short.MAX_VALUE, Math.round(scaled)));
    }
}
