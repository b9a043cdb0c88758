package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportFileTest {
    @TempDir
    Path directory = Path.of("");

    @Test
    void thePageReplacesAnOlderOneAndLeavesNothingElse() throws IOException {
        Files.writeString(directory.resolve("report.html"), "old");

        ReportFile.writePage(directory, "new");

        assertThat(directory.resolve("report.html")).hasContent("new");
        assertThat(directory).isDirectoryNotContaining("glob:**.part");
    }

    @Test
    void aPageThatCannotBeWrittenLeavesTheOlderOne() throws IOException {
        Files.writeString(directory.resolve("report.html"), "old");
        Files.createDirectories(directory.resolve("report.html.part"));

        assertThatThrownBy(() -> ReportFile.writePage(directory, "new"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage(directory.resolve("report.html") + " cannot be written");
        assertThat(directory.resolve("report.html")).hasContent("old");
    }

    @Test
    void thePageAndThePlotsOfAnEarlierRunAreDeletedAndNoOtherFile() throws IOException {
        for (String name : List.of("report.html", "loans.png", "gpus-by-owner.png", "forecast-chat.png")) {
            Files.writeString(directory.resolve(name), "old");
        }
        Path mine = Files.writeString(directory.resolve("notes.png"), "mine");

        ReportFile.deleteOld(directory);

        assertThat(directory.toFile().listFiles()).containsExactly(mine.toFile());
    }
}
