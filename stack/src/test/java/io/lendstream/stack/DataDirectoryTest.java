package io.lendstream.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataDirectoryTest {

    @TempDir
    private Path parent;

    @Test
    void aDirectoryThatTheRunMadeGoesWithIt() throws IOException {
        var data = DataDirectory.open(Optional.of(parent.resolve("run")));
        Files.writeString(data.sub("broker").resolve("log"), "x");

        data.delete();

        assertThat(parent.resolve("run")).doesNotExist();
    }

    @Test
    void aDirectoryThatWasThereStaysAndIsEmpty() {
        var data = DataDirectory.open(Optional.of(parent));
        data.sub("broker");

        data.delete();

        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void aDirectoryWithFilesIsRefused() throws IOException {
        Files.writeString(parent.resolve("thesis.tex"), "x");

        assertThatThrownBy(() -> DataDirectory.open(Optional.of(parent)))
                .isInstanceOf(StackException.class)
                .hasMessageContaining("--data-dir is " + parent)
                .hasMessageContaining("must be new or empty");
        assertThat(parent.resolve("thesis.tex")).exists();
    }

    @Test
    void logsCanBeKeptAlone() throws IOException {
        var data = DataDirectory.open(Optional.of(parent.resolve("run")));
        Files.writeString(data.sub("logs").resolve("broker.log"), "why");
        data.sub("broker");

        data.deleteAllBut("logs");

        assertThat(parent.resolve("run/logs/broker.log")).hasContent("why");
        assertThat(parent.resolve("run/broker")).doesNotExist();
    }

    @Test
    void linksAreDeletedButNotFollowed() throws IOException {
        Path precious = Files.createDirectories(parent.resolve("precious"));
        Files.writeString(precious.resolve("file"), "x");
        var data = DataDirectory.open(Optional.of(parent.resolve("run")));
        Files.createSymbolicLink(data.path().resolve("link"), precious);

        data.delete();

        assertThat(precious.resolve("file")).exists();
    }

    @Test
    void whatTheRunDidNotMakeStays() throws IOException {
        var data = DataDirectory.open(Optional.of(parent.resolve("run")));
        Files.writeString(data.sub("broker").resolve("log"), "x");
        Files.createDirectories(parent.resolve("run/notes"));
        Files.writeString(parent.resolve("run/notes/why.txt"), "x");

        data.delete();

        assertThat(parent.resolve("run/notes/why.txt")).exists();
        assertThat(parent.resolve("run/broker")).doesNotExist();
        assertThat(parent.resolve("run/.lock")).doesNotExist();
    }

    @Test
    void whatAKilledRunLeftIsRemovedByTheNext() throws IOException {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        Path left = Files.createTempDirectory(temporary, "lendstream-run-");
        Files.createFile(left.resolve(".lock"));
        Files.writeString(Files.createDirectories(left.resolve("broker")).resolve("log"), "x");

        DataDirectory next = DataDirectory.open(Optional.empty());

        assertThat(left).doesNotExist();
        next.delete();
        assertThat(next.path()).doesNotExist();
    }
}
