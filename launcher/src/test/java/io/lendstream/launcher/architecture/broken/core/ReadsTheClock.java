package io.lendstream.launcher.architecture.broken.core;

import java.time.Instant;

/** Is different every time. */
final class ReadsTheClock {

    private ReadsTheClock() {}

    static Instant instant() {
        return Instant.now();
    }

    static long millis() {
        return System.currentTimeMillis();
    }
}
