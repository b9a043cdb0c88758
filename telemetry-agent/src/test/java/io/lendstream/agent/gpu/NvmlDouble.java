package io.lendstream.agent.gpu;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A library with NVML's ABI in a directory of its own, and the machine that it plays: {@code src/test/native}, built
 * once by the system's compiler. Each has state of its own, as each is a file of its own.
 */
final class NvmlDouble {
    private static final Path BUILD = Path.of("src/test/native/build.sh");
    private static final Map<String, Path> BUILT = new ConcurrentHashMap<>();

    private final Path directory;

    private NvmlDouble(Path directory) {
        this.directory = directory;
    }

    /** One of a present driver; where there is no compiler, the test is skipped and says so. */
    static NvmlDouble in(Path directory) {
        return in(directory, "new");
    }

    /** One that lacks the symbols that drivers before R470 lack. */
    static NvmlDouble oldIn(Path directory) {
        return in(directory, "old");
    }

    private static NvmlDouble in(Path directory, String kind) {
        assumeTrue(hasCompiler(), "needs a C compiler (cc) for the double of NVML, and there is none");
        try {
            Path library = BUILT.computeIfAbsent(kind, NvmlDouble::build);
            Files.copy(library, directory.resolve("libnvidia-ml.so.1"));
            return new NvmlDouble(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean hasCompiler() {
        try {
            return new ProcessBuilder("cc", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path build(String kind) {
        try {
            Path library = Files.createTempDirectory("nvml-double").resolve(kind + ".so");
            Process compiler = new ProcessBuilder("sh", BUILD.toString(), library.toString(), kind)
                    .redirectErrorStream(true)
                    .start();
            String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (compiler.waitFor() != 0) {
                throw new IllegalStateException("%s fails: %s".formatted(BUILD, said));
            }
            return library;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The machine from now on; the library reads it at its next call. */
    NvmlDouble plays(Machine machine) {
        try {
            Path next = directory.resolve("machine.next");
            Files.writeString(next, machine.script());
            Files.move(next, directory.resolve("machine"), StandardCopyOption.ATOMIC_MOVE);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The driver is unloaded. */
    void unloadDriver() {
        try {
            Files.deleteIfExists(directory.resolve("machine"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What of NVML is open: {@code inits 1 sets 1 samples 0}. */
    String open() {
        try {
            Path state = directory.resolve("state");
            return Files.exists(state) ? Files.readString(state).strip() : "inits 0 sets 0 samples 0";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<String> libraries() {
        return List.of(directory.toString());
    }
}
