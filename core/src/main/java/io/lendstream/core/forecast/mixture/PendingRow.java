package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.Compact;
import java.util.Optional;

/**
 * A row of {@link Pending}: the known values at a step, the experts' forecasts, the forecast, and the expected error.
 */
record PendingRow(Pending rows, int start) {
    private static final int USUAL = SeenDemand.DEVIATIONS;
    private static final int YESTERDAY = USUAL + 1;
    private static final int EXPERT = YESTERDAY + 1;
    private static final int MIXED = EXPERT + HorizonModel.EXPERTS;
    private static final int P50 = MIXED + 1;
    private static final int SIZE = P50 + 1;
    private static final int P10 = SIZE + 1;
    private static final int P90 = P10 + 1;
    private static final int P99 = P90 + 1;
    private static final int COLUMNS = P99 + 1;

    /** Rows for one horizon, none of them filled. */
    static Pending none(int horizonSteps) {
        return new Pending(horizonSteps, COLUMNS);
    }

    /** The row that was noted one horizon before a step. */
    static Optional<PendingRow> about(Pending rows, long step) {
        return of(rows, rows.at(step));
    }

    /** A step's own row, to be filled now; empty if it is none that is noted. */
    static Optional<PendingRow> begin(Pending rows, long step) {
        return of(rows, rows.begin(step));
    }

    private static Optional<PendingRow> of(Pending rows, int start) {
        return start < 0 ? Optional.empty() : Optional.of(new PendingRow(rows, start));
    }

    /** Whether there was a season that demand deviated from. */
    boolean isSeasonal() {
        return !Double.isNaN(deviation(0));
    }

    /** How far demand was off the season, over one of the spans; NaN where there was no season yet. */
    double deviation(int span) {
        return number(span);
    }

    void deviation(int span, double value) {
        number(span, value);
    }

    /** The usual deviation at the step, and that of a day before. */
    void here(double usual, double yesterday) {
        number(USUAL, usual);
        number(YESTERDAY, yesterday);
    }

    double usual() {
        return number(USUAL);
    }

    double yesterday() {
        return number(YESTERDAY);
    }

    /** Writes each expert's forecast into {@code said}. */
    void readExperts(double[] said) {
        for (int i = 0; i < said.length; i++) {
            said[i] = amount(EXPERT + i);
        }
    }

    void experts(double[] said) {
        for (int i = 0; i < said.length; i++) {
            amount(EXPERT + i, said[i]);
        }
    }

    /** The common forecast of the experts. */
    double mixed() {
        return amount(MIXED);
    }

    /** The forecast median, which after a shift differs from the experts' forecasts. */
    double p50() {
        return amount(P50);
    }

    /** How large an error was expected. */
    double size() {
        return amount(SIZE);
    }

    void middle(double mixed, double p50, double size) {
        amount(MIXED, mixed);
        amount(P50, p50);
        amount(SIZE, size);
    }

    Spread.Quantiles quantiles() {
        return new Spread.Quantiles(amount(P10), amount(P90), amount(P99));
    }

    void quantiles(Spread.Quantiles said) {
        amount(P10, said.p10());
        amount(P90, said.p90());
        amount(P99, said.p99());
    }

    private double number(int column) {
        return Compact.number(rows.get(start + column));
    }

    private void number(int column, double value) {
        rows.set(start + column, Compact.number(value));
    }

    private double amount(int column) {
        return Compact.amount(rows.get(start + column));
    }

    private void amount(int column, double value) {
        rows.set(start + column, Compact.amount(value));
    }
}
