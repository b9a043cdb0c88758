package io.lendstream.stack;

import java.time.Duration;

/** The effect of the end of a child on the run. */
public sealed interface OnExit {
    /** The exit code for invalid usage: a restart would not help. */
    int WRONG_USE = 2;

    /** The run ends with it. */
    static OnExit endsTheRun() {
        return new EndsTheRun();
    }

    /** It is restarted, as a service in a deployment. */
    static OnExit restart(int times) {
        return new Restart(times, Duration.ofSeconds(1));
    }

    /** It has a task: exit code 0 is success, any other ends the run. */
    static OnExit finishes() {
        return new Finishes();
    }

    record EndsTheRun() implements OnExit {}

    /**
     * Restarted after {@code firstDelay}, then after twice as long each time, at most {@code times} times. A good run
     * of one minute resets the count.
     */
    record Restart(int times, Duration firstDelay) implements OnExit {

        static final Duration WELL_AGAIN = Duration.ofMinutes(1);

        private static final Duration LONGEST_DELAY = Duration.ofSeconds(30);

        public Restart {
            if (times < 0 || firstDelay.isNegative()) {
                throw new IllegalArgumentException(
                        "restarts are %d after %s, but neither may be negative".formatted(times, firstDelay));
            }
        }

        Duration delayBefore(int restart) {
            Duration delay = firstDelay.multipliedBy(1L << Math.min(restart - 1, 16));
            return delay.compareTo(LONGEST_DELAY) < 0 ? delay : LONGEST_DELAY;
        }
    }

    record Finishes() implements OnExit {}
}
