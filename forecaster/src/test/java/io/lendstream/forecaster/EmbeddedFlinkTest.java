package io.lendstream.forecaster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedFlinkTest {
    @TempDir
    Path directory;

    @Test
    void goesOnFromTheNewestCheckpointOfAnyEarlierRun() throws Exception {
        checkpoint("first-run/chk-90", 10);
        checkpoint("second-run/chk-7", 30);
        checkpoint("second-run/chk-6", 20);

        assertThat(EmbeddedFlink.newestCheckpoint(directory)).contains(directory.resolve("second-run/chk-7"));
    }

    @Test
    void startsWithoutStateIfNoCheckpointIsComplete() throws Exception {
        Files.createDirectories(directory.resolve("run/chk-1"));

        assertThat(EmbeddedFlink.newestCheckpoint(directory)).isEmpty();
    }

    private void checkpoint(String name, long writtenAt) throws Exception {
        Path metadata = Files.createDirectories(directory.resolve(name)).resolve("_metadata");
        Files.writeString(metadata, "");
        Files.setLastModifiedTime(metadata, FileTime.from(Instant.ofEpochSecond(writtenAt)));
    }
}
