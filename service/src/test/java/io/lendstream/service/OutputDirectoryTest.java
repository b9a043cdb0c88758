package io.lendstream.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class OutputDirectoryTest {
    @TempDir
    Path folder;

    @Test
    void aDirectoryIsMadeBeforeThereAreResultsOrTheErrorSaysWhyNot() throws IOException {
        Path file = Files.writeString(folder.resolve("notes.txt"), "mine");

        assertThat(OutputDirectory.obstacle(folder.resolve("a/b"))).isEmpty();
        assertThat(OutputDirectory.obstacle(file)).contains("is a file");
        assertThat(OutputDirectory.obstacle(file.resolve("out")))
                .contains("cannot be made: %s is a file".formatted(file));

        assertThat(folder.resolve("a/b")).isEmptyDirectory();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whereTheSystemAllowsNoDirectoryTheCauseIsNamedWithoutThePath() {
        assertThat(OutputDirectory.obstacle(Path.of("/proc/out")))
                .hasValueSatisfying(obstacle ->
                        assertThat(obstacle).startsWith("cannot be made: ").doesNotContain("/proc", "null"));
    }
}
