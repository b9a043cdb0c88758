package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The loaded NVML library. Functions are looked up at their first call, by the name with the version that we know, so
 * a driver without one of them lacks only that one. Safe for many threads.
 */
final class Library implements AutoCloseable {
    /** The file names of the driver's library, and of its development package. */
    static final List<String> USUAL = List.of("libnvidia-ml.so.1", "nvidia-ml");

    private static final String FILE = "libnvidia-ml.so.1";

    private final NativeLibrary loaded;
    private final Map<String, Optional<Function>> functions = new HashMap<>();

    private Library(NativeLibrary loaded) {
        this.loaded = loaded;
    }

    /**
     * Loads the first library that can be loaded.
     *
     * @param candidates directories, paths or names
     * @throws NvmlException if none can be loaded, with all reasons
     */
    static Library load(List<String> candidates) throws NvmlException {
        var refused = new StringBuilder();
        for (String candidate : candidates) {
            String name = Files.isDirectory(Path.of(candidate))
                    ? Path.of(candidate, FILE).toString()
                    : candidate;
            try {
                return new Library(NativeLibrary.getInstance(name));
            } catch (LinkageError e) { // the library or JNA's native part is missing
                refused.append(refused.isEmpty() ? "" : "; ").append(reason(e));
            }
        }
        throw new NvmlException(
                "NVML cannot be loaded (%s). Install NVIDIA's driver, or give the container its libraries."
                        .formatted(refused));
    }

    /** JNA's first line; if it ends with a colon, with the loader's own reason, which is the next. */
    private static String reason(Throwable e) {
        List<String> lines = String.valueOf(e.getMessage()).lines().limit(2).toList();
        return lines.size() == 2 && lines.get(0).endsWith(":") ? lines.get(0) + " " + lines.get(1) : lines.get(0);
    }

    /** Calls a function that returns a status; a missing one returns {@link Code#FUNCTION_NOT_FOUND}. */
    Code call(String name, Object... arguments) {
        Optional<Function> function = function(name);
        return function.isPresent() ? Code.of(function.get().invokeInt(arguments)) : Code.FUNCTION_NOT_FOUND;
    }

    private synchronized Optional<Function> function(String name) {
        return functions.computeIfAbsent(name, wanted -> {
            try {
                return Optional.of(loaded.getFunction(wanted));
            } catch (UnsatisfiedLinkError e) {
                return Optional.empty();
            }
        });
    }

    /** Unloads it, so that an updated driver's library can be loaded. No call may be in progress. */
    @Override
    public void close() {
        loaded.close();
    }
}
