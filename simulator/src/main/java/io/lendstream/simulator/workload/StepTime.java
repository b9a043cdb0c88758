package io.lendstream.simulator.workload;

/**
 * Time of a synchronised training step.
 *
 * @param seconds of the whole step
 * @param syncSeconds part of it spent waiting for synchronisation
 */
public record StepTime(double seconds, double syncSeconds) {
    public StepTime {
        if (!(seconds > 0) || !(syncSeconds >= 0) || syncSeconds > seconds || Double.isInfinite(seconds)) {
            throw new IllegalArgumentException(
                    "a step must take more than 0 s and its synchronisation no more than that, but were %s s and %s s"
                            .formatted(seconds, syncSeconds));
        }
    }

    /** The time where all of it takes this much less. */
    public StepTime fasterBy(double factor) {
        return factor == 1 ? this : new StepTime(seconds / factor, syncSeconds / factor);
    }

    /**
     * The time where its parts take less.
     *
     * @param computation how much faster it computes
     * @param synchronisation how much faster it synchronises
     */
    StepTime fasterBy(double computation, double synchronisation) {
        double wait = syncSeconds / synchronisation;
        return new StepTime(accumulationSeconds() / computation + wait, wait);
    }

    /** Time of a step that only accumulates gradients. */
    public double accumulationSeconds() {
        return seconds - syncSeconds;
    }
}
