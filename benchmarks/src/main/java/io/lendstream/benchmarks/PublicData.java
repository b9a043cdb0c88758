package io.lendstream.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Public workloads outside the project, in LENDSTREAM_DATA or in shared/data beside the project, and the reference
 * figures inside it.
 */
final class PublicData {
    private static final Path DIRECTORY =
            Optional.ofNullable(System.getenv("LENDSTREAM_DATA")).map(Path::of).orElse(Path.of("../shared/data"));

    private PublicData() {}

    /** The lines of a table of reference figures in this module, without comments and header. */
    static Stream<String> reference(String name) {
        try (InputStream in = Objects.requireNonNull(PublicData.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .skip(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The directory of the data; if a benchmark lacks a part of it, the benchmark ends with an error. */
    static Path with(String benchmark, String... needed) {
        for (String path : needed) {
            if (!Files.exists(DIRECTORY.resolve(path))) {
                System.err.printf(
                        "%s: there is no %s; set LENDSTREAM_DATA to the directory that has %s%n",
                        benchmark, DIRECTORY.resolve(path), String.join(", ", needed));
                System.exit(1);
            }
        }
        return DIRECTORY;
    }
}
