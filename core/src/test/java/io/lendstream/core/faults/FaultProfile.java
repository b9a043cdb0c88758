package io.lendstream.core.faults;

import java.util.Random;

/**
 * How messages fare on their way.
 *
 * @param loss share that never arrives
 * @param repeat share that arrives twice
 * @param late share that arrives minutes later
 * @param usualSeconds the longest usual way, in seconds
 * @param inOrder whether messages from one to another keep their order
 */
record FaultProfile(double loss, double repeat, double late, int usualSeconds, boolean inOrder) {
    /** As in a log: in order, and nothing is lost; some come twice. */
    static final FaultProfile CALM = new FaultProfile(0, 0.1, 0, 2, true);
    /** In order, but slow at times. */
    static final FaultProfile HEAVY = new FaultProfile(0, 0.1, 0.03, 10, true);
    /** Everything that can happen to messages. */
    static final FaultProfile STORM = new FaultProfile(0.03, 0.15, 0.05, 20, false);

    static FaultProfile of(Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> CALM;
            case 1 -> HEAVY;
            default -> STORM;
        };
    }

    long delayMillis(Random random) {
        int most = 1000 * (random.nextDouble() < late ? 400 : usualSeconds);
        return random.nextInt(most + 1);
    }
}
