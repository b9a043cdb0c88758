package io.lendstream.core.simulated;

import java.util.SplittableRandom;

/** Chance that depends on what it is about and not on how often it was asked: a seed mixed with names and times. */
final class Chance {
    private Chance() {}

    static SplittableRandom of(long seed, Object... about) {
        long mixed = seed;
        for (Object part : about) {
            mixed = mix(mixed ^ hash(part.toString()));
        }
        return new SplittableRandom(mixed);
    }

    private static long hash(String text) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash;
    }

    private static long mix(long value) {
        long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }
}
