package io.lendstream.launcher.declare;

import java.util.Optional;

/** Texts in cells of tables. */
final class Cells {
    private Cells() {}

    /** A number without a fraction that is zero. */
    static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }

    /** A value, or nothing. */
    static String text(Optional<?> value) {
        return value.map(String::valueOf).orElse("");
    }
}
