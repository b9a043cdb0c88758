package io.lendstream.core.afe;

import java.time.Duration;

/**
 * The time that a job loses when it starts and when its GPUs change.
 *
 * @param first a start from nothing, or a restart on other GPUs
 * @param next a change in place with AFE
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023</a>
 */
public record RescaleCosts(Duration first, Duration next) {
    public RescaleCosts {
        if (first.isNegative() || next.isNegative()) {
            throw new IllegalArgumentException(
                    "rescale costs must be at least 0, but were %s and %s".formatted(first, next));
        }
    }

    /**
     * With a measurement, which counts for half: what it costs changes with the size of the job and of the machine.
     *
     * @param inPlace whether a change in place was measured, and not a start or restart
     */
    public RescaleCosts with(Duration measured, boolean inPlace) {
        return inPlace
                ? new RescaleCosts(first, next.plus(measured).dividedBy(2))
                : new RescaleCosts(first.plus(measured).dividedBy(2), next);
    }

    /** Those of a job that cannot be changed in place: every change is a restart. */
    public RescaleCosts withoutAfe() {
        return new RescaleCosts(first, first);
    }

    /**
     * How long a job does not train when its number of GPUs changes.
     *
     * <p>From nothing, or to as many GPUs elsewhere: {@code first}. Shrinking: {@code next}. Growing:
     * {@code next + (first - next) * (to - from) / to}, in whole seconds as published. Without AFE always
     * {@code first}.
     *
     * @param from GPUs before
     * @param to GPUs after; zero costs nothing
     */
    public Duration delay(int from, int to, boolean afe) {
        if (to == 0) {
            return Duration.ZERO;
        }
        if (!afe || from == 0 || from == to) {
            return first;
        }
        if (to < from) {
            return next;
        }
        long seconds = first.minus(next).toSeconds() * (to - from) / to;
        return next.plusSeconds(seconds);
    }
}
