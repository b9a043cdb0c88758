package io.lendstream.core.id;

import java.time.Duration;
import java.util.Optional;

/** The bounds that more than one kind of event has to keep. */
public final class Checks {
    private Checks() {}

    /** A finite number of at least zero. */
    public static double notNegative(String name, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(
                    "%s must be a finite number of at least 0, but was %s".formatted(name, value));
        }
        return value;
    }

    public static void notNegative(String name, Optional<? extends Number> value) {
        value.ifPresent(number -> notNegative(name, number.doubleValue()));
    }

    /** A fraction between 0 and 1, both included. */
    public static void fraction(String name, Optional<Double> value) {
        value.ifPresent(number -> {
            if (!(number >= 0 && number <= 1)) {
                throw new IllegalArgumentException("%s must lie between 0 and 1, but was %s".formatted(name, number));
            }
        });
    }

    public static void finite(String name, Optional<Double> value) {
        value.ifPresent(number -> {
            if (!Double.isFinite(number)) {
                throw new IllegalArgumentException("%s must be finite, but was %s".formatted(name, number));
            }
        });
    }

    /** A length of time of at least zero. */
    public static void notNegative(String name, Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("%s must be at least 0, but was %s".formatted(name, time));
        }
    }

    public static void atLeast(String name, long bound, long value) {
        if (value < bound) {
            throw new IllegalArgumentException("%s must be at least %d, but was %d".formatted(name, bound, value));
        }
    }
}
