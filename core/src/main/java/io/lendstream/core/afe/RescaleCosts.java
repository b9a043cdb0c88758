package io.lendstream.core.afe;

import java.time.Duration;
import java.util.Optional;

/**
 * The time that a job loses when it starts and when its GPUs change.
 *
 * @param first a start from nothing, or a restart on other GPUs
 * @param next a change in place with AFE
 * @param pausing a pause in host memory; empty if the job cannot be paused
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023</a>
 */
public record RescaleCosts(Duration first, Duration next, Optional<PauseCosts> pausing) {
    /** Of a job without known costs: 10 s for a start, 1 s for a change in place. */
    public static final RescaleCosts UNMEASURED = new RescaleCosts(Duration.ofSeconds(10), Duration.ofSeconds(1));

    /** Of a job that cannot be paused. */
    public RescaleCosts(Duration first, Duration next) {
        this(first, next, Optional.empty());
    }

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
                ? new RescaleCosts(first, next.plus(measured).dividedBy(2), pausing)
                : new RescaleCosts(first.plus(measured).dividedBy(2), next, pausing);
    }

    /** Those of a job that cannot be changed in place: every change is a restart. */
    public RescaleCosts withoutAfe() {
        return new RescaleCosts(first, first, pausing);
    }

    /** Those of a job that can be paused. */
    public RescaleCosts pausing(PauseCosts costs) {
        return new RescaleCosts(first, next, Optional.of(costs));
    }

    /**
     * Those of a job that is paused. It starts again by a resume. The node is not known before, so the start counts as
     * one elsewhere.
     */
    public RescaleCosts whilePaused() {
        return pausing.map(costs -> new RescaleCosts(costs.resumeElsewhere(), next, pausing))
                .orElse(this);
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
