package io.lendstream.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The targets by the names that {@code ./dev fuzz} has for them, and the inputs that are kept of each. */
enum Corpus {
    CODEC(CodecTarget::fuzzerTestOneInput),
    METRICS(MetricsTarget::fuzzerTestOneInput),
    SETTINGS(SettingsTarget::fuzzerTestOneInput),
    WORKLOAD(WorkloadTarget::fuzzerTestOneInput);

    @SuppressWarnings("ImmutableEnumChecker") // a reference to a method
    private final Consumer<byte[]> target;

    Corpus(Consumer<byte[]> target) {
        this.target = target;
    }

    void run(byte[] input) {
        target.accept(input);
    }

    Path directory() {
        return Path.of("src/test/resources/corpus", name().toLowerCase(java.util.Locale.ROOT));
    }

    List<Path> inputs() throws IOException {
        try (Stream<Path> files = Files.list(directory())) {
            return files.sorted().toList();
        }
    }
}
