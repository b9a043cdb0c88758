package io.lendstream.launcher.faults;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The wall clock of processes that tests start: libfaketime shifts it, and a file says by how much, so that it can jump while they
 * run. Their monotonic clock is left alone, as a wrong wall clock leaves it.
 */
final class Clock {
    private static final String LIBRARY = "libfaketime.so.1";

    private final Path library;
    private final Path offset;

    private Clock(Path library, Path offset) {
        this.library = library;
        this.offset = offset;
    }

    /** A right clock, which can be moved; the test is skipped where libfaketime is not installed. */
    static Clock in(Path directory, String name) throws IOException {
        Optional<Path> found = library();
        assumeTrue(
                found.isPresent(),
                "no " + LIBRARY
                        + " (Debian: libfaketime) to move the clock of a process; name it in LENDSTREAM_FAKETIME");
        Clock clock = new Clock(found.orElseThrow(), directory.resolve(name + ".clock"));
        clock.set(0);
        return clock;
    }

    private static Optional<Path> library() throws IOException {
        String named = System.getenv("LENDSTREAM_FAKETIME");
        if (named != null) {
            return Optional.of(Path.of(named)).filter(Files::exists);
        }
        try (Stream<Path> architectures = Files.list(Path.of("/usr/lib"))) {
            return architectures
                    .map(architecture -> architecture.resolve("faketime").resolve(LIBRARY))
                    .filter(Files::exists)
                    .findFirst();
        }
    }

    /** The variables of a process that has this clock. */
    Map<String, String> environment() {
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                "FAKETIME_TIMESTAMP_FILE",
                offset.toString(),
                "FAKETIME_NO_CACHE",
                "1",
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1");
    }

    /** Moves it to so many seconds from the right time; positive is ahead. */
    void set(int seconds) throws IOException {
        Path fresh = offset.resolveSibling(offset.getFileName() + ".new");
        Files.writeString(fresh, "%+ds%n".formatted(seconds));
        Files.move(fresh, offset, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
