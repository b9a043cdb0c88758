package io.lendstream.stack;

import java.util.ArrayList;
import java.util.List;

/**
 * The limits of the JVM of a child.
 *
 * @param heapMebibytes the limit of its heap
 * @param metaspaceMebibytes the limit of its class data
 * @param compiler the effort of its compiler
 * @param firstMebibytes the size of its heap at the start
 */
public record Jvm(int heapMebibytes, int metaspaceMebibytes, Compiler compiler, int firstMebibytes) {
    private static final int SMALL = 16;

    /** The effort of the compiler. */
    public enum Compiler {
        /** Fast start and small: for children that mostly wait. */
        QUICK,
        /** Full speed: for children that compute. */
        THOROUGH
    }

    public Jvm {
        if (heapMebibytes < 8 || metaspaceMebibytes < 8) {
            throw new IllegalArgumentException("heap is %d MiB and metaspace %d MiB, but a JVM needs 8 MiB of each"
                    .formatted(heapMebibytes, metaspaceMebibytes));
        }
    }

    /** These limits with a small first heap. */
    public Jvm(int heapMebibytes, int metaspaceMebibytes, Compiler compiler) {
        this(heapMebibytes, metaspaceMebibytes, compiler, Math.min(SMALL, heapMebibytes));
    }

    /** A fast start, with a heap of this size. */
    public static Jvm quick(int heapMebibytes) {
        return new Jvm(heapMebibytes, 128, Compiler.QUICK);
    }

    /** Full speed, with a heap of this size. */
    public static Jvm thorough(int heapMebibytes) {
        return new Jvm(heapMebibytes, 160, Compiler.THOROUGH);
    }

    /** These limits with the whole heap from the start. */
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
