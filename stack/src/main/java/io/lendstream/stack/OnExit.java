package io.lendstream.stack;

import java.time.Duration;

/** What the end of a child means for the run. */
public sealed interface OnExit {
    /** How a child ends that was told nonsense: to start it again would change nothing. */
    int WRONG_USE = 2;

    /** The run cannot go on without it. */
    static OnExit endsTheRun() {
        return new EndsTheRun();
    }

    /** It comes back, as a service would in a real deployment. */
    static OnExit restart(int times) {
        return new Restart(times, Duration.ofSeconds(1));
    }

    /** It has a task that ends: exit code 0 is its success, any other ends the run. */
    static OnExit finishes() {
        return new Finishes();
    }

    record EndsTheRun() implements OnExit {}

    /**
     * Started again after {@code firstDelay}, then after twice as long each time, {@code times} times at most; from the
     * start again once it has run well for a minute.
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
