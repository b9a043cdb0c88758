package io.lendstream.stack;

import java.util.ArrayList;
import java.util.List;

/**
 * How much of the machine a child may take.
 *
 * @param heapMebibytes bound of its heap
 * @param metaspaceMebibytes bound of its class data
 * @param compiler how hard its code is compiled
 * @param firstMebibytes what its heap begins with
 */
public record Jvm(int heapMebibytes, int metaspaceMebibytes, Compiler compiler, int firstMebibytes) {
    private static final int SMALL = 16;

    /** What a child spends its compile time on. */
    public enum Compiler {
        /** Ready soon and small: for children that wait for others most of the time. */
        QUICK,
        /** Fast in the end: for children that work. */
        THOROUGH
    }

    public Jvm {
        if (heapMebibytes < 8 || metaspaceMebibytes < 8) {
            throw new IllegalArgumentException("heap is %d MiB and metaspace %d MiB, but a JVM needs 8 MiB of each"
                    .formatted(heapMebibytes, metaspaceMebibytes));
        }
    }

    /** With a heap that begins small. */
    public Jvm(int heapMebibytes, int metaspaceMebibytes, Compiler compiler) {
        this(heapMebibytes, metaspaceMebibytes, compiler, Math.min(SMALL, heapMebibytes));
    }

    /** Ready soon, with a heap of that size. */
    public static Jvm quick(int heapMebibytes) {
        return new Jvm(heapMebibytes, 128, Compiler.QUICK);
    }

    /** Compiled thoroughly, with a heap of that size. */
    public static Jvm thorough(int heapMebibytes) {
        return new Jvm(heapMebibytes, 160, Compiler.THOROUGH);
    }

    /** The same with all of its heap from the start, as where memory is set aside for it. */
    public Jvm withWholeHeap() {
        return new Jvm(heapMebibytes, metaspaceMebibytes, compiler, heapMebibytes);
    }

    List<String> flags() {
        var flags = new ArrayList<>(List.of(
                "-Xms" + firstMebibytes + "m",
                "-Xmx" + heapMebibytes + "m",
                "-XX:MaxMetaspaceSize=" + metaspaceMebibytes + "m",
                "-Xss512k",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData", // no files in the temporary directory
                "-XX:+ExitOnOutOfMemoryError"));
        if (compiler == Compiler.QUICK) {
            flags.add("-XX:TieredStopAtLevel=1");
            flags.add("-XX:ReservedCodeCacheSize=48m");
        }
        int feature = Runtime.version().feature();
        if (feature >= 22) {
            flags.add("--enable-native-access=ALL-UNNAMED");
        }
        if (feature >= 23) {
            flags.add("--sun-misc-unsafe-memory-access=allow");
        }
        return List.copyOf(flags);
    }
}
