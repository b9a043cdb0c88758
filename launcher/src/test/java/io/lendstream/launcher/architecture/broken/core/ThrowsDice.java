package io.lendstream.launcher.architecture.broken.core;

import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;

/** Is different every time, too. */
final class ThrowsDice {

    private ThrowsDice() {}

    static Random unseeded() {
        return new Random();
    }

    static int anywhere() {
        return ThreadLocalRandom.current().nextInt();
    }

    static Random seeded() {
        return new Random(1);
    }
}
