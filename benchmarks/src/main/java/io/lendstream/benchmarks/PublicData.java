package io.lendstream.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Public workloads, which are no part of the project: in LENDSTREAM_DATA, or in shared/data beside the project. */
final class PublicData {
    private static final Path DIRECTORY =
            Optional.ofNullable(System.getenv("LENDSTREAM_DATA")).map(Path::of).orElse(Path.of("../shared/data"));

    private PublicData() {}

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
