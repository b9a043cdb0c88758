package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Arrays;

/**
 * The notes of steps whose horizon has not come yet: rows of numbers in two bytes each. At a far horizon only some
 * steps are noted, because forecasts one step apart differ little.
 */
final class Pending {
    private static final int MOST_ROWS = 12;

    private final int horizonSteps;
    private final int stride;
    private final int columns;
    private final short[] rows;
    private final boolean[] filled;

    Pending(int horizonSteps, int columns) {
        this.horizonSteps = horizonSteps;
        this.columns = columns;
        stride = stride(horizonSteps);
        int count = (horizonSteps + stride - 1) / stride;
        rows = new short[count * columns];
        filled = new boolean[count];
    }

    /** Every so many steps are noted at a horizon. */
    static int stride(int horizonSteps) {
        return (horizonSteps + MOST_ROWS - 1) / MOST_ROWS;
    }

    /**
     * Where the row begins that was noted one horizon before a step; -1 for none. To be asked before the step's own.
     */
    int at(long step) {
        int row = row(step - horizonSteps);
        return row >= 0 && filled[row] ? row * columns : -1;
    }

    /** Where a step's own row begins, to be filled now; -1 if it is none that is noted. */
    int begin(long step) {
        int row = row(step);
        if (row < 0) {
            return -1;
        }
        filled[row] = true;
        return row * columns;
    }

    /** A step has nothing to note. */
    void skip(long step) {
        int row = row(step);
        if (row >= 0) {
            filled[row] = false;
        }
    }

    private int row(long origin) {
        return Math.floorMod(origin, stride) == 0 ? Math.floorMod(Math.floorDiv(origin, stride), filled.length) : -1;
    }

    short get(int index) {
        return rows[index];
    }

    void set(int index, short value) {
        rows[index] = value;
    }

    void save(StateWriter out) {
        out.numbers(rows);
        long bits = 0;
        for (int i = 0; i < filled.length; i++) {
            bits |= filled[i] ? 1L << i : 0;
        }
        out.number(bits);
    }

    void load(StateReader in) {
        in.numbers(rows);
        long bits = in.wholeNumber();
        Arrays.fill(filled, false);
        for (int i = 0; i < filled.length; i++) {
            filled[i] = (bits >>> i & 1) == 1;
        }
    }
}
