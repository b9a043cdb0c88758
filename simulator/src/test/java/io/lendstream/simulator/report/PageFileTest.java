package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageFileTest {
    @TempDir
    Path directory = Path.of("");

    @Test
    void thePageReplacesAnOlderOneAndLeavesNothingElse() throws IOException {
        Files.writeString(directory.resolve("report.html"), "old");

        PageFile.write(directory, "new");

        assertThat(directory.resolve("report.html")).hasContent("new");
        assertThat(directory).isDirectoryNotContaining("glob:**.part");
    }

    @Test
    void aPageThatCannotBeWrittenLeavesTheOlderOne() throws IOException {
        Files.writeString(directory.resolve("report.html"), "old");
        Files.createDirectories(directory.resolve("report.html.part"));

        assertThatThrownBy(() -> PageFile.write(directory, "new"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage(directory.resolve("report.html") + " cannot be written");
        assertThat(directory.resolve("report.html")).hasContent("old");
    }
}
