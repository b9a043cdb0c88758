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
 * Public workloads, which are no part of the project: in LENDSTREAM_DATA, or in shared/data beside the project; and the reference
 * figures that are part of it.
 */
final class PublicData {
    private static final Path DIRECTORY =
            Optional.ofNullable(System.getenv("LENDSTREAM_DATA")).map(Path::of).orElse(Path.of("../shared/data"));

    private PublicData() {}

    /** Lines of a table of reference figures that is part of this module, without its comments and its header. */
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

    /** The directory; where it has not got all of what a benchmark needs, that is said, and the benchmark ends. */
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
