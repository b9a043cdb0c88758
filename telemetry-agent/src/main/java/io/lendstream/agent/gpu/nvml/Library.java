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
 * NVML, loaded. Functions are looked up when they are first called, by the name with the version that we know, so that a driver
 * that lacks one lacks only that. Many threads may call.
 */
final class Library implements AutoCloseable {
    /** What the driver installs, and what only its development package does. */
    static final List<String> USUAL = List.of("libnvidia-ml.so.1", "nvidia-ml");

    private static final String FILE = "libnvidia-ml.so.1";

    private final NativeLibrary loaded;
    private final Map<String, Optional<Function>> functions = new HashMap<>();

    private Library(NativeLibrary loaded) {
        this.loaded = loaded;
    }

    /**
     * Loads the first of these that can be loaded.
     *
     * @param candidates directories, paths or names
     * @throws NvmlException where none can be, saying what each was refused for
     */
    static Library load(List<String> candidates) throws NvmlException {
        var refused = new StringBuilder();
        for (String candidate : candidates) {
            String name = Files.isDirectory(Path.of(candidate))
                    ? Path.of(candidate, FILE).toString()
                    : candidate;
            try {
                return new Library(NativeLibrary.getInstance(name));
            } catch (LinkageError e) { // the library is missing, or JNA's own part of it is
                refused.append(refused.isEmpty() ? "" : "; ").append(firstLine(e));
            }
        }
        throw new NvmlException(
                "NVML cannot be loaded (%s). Install NVIDIA's driver, or give the container its libraries."
                        .formatted(refused));
    }

    private static String firstLine(Throwable e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse(e.toString());
    }

    /** Calls a function that answers with a code; one that is not there is {@link Code#FUNCTION_NOT_FOUND}. */
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

    /** Unloads it, so that the library of a driver that was updated meanwhile can be loaded. No call may be under way. */
    @Override
    public void close() {
        loaded.close();
    }
}
