package io.lendstream.actuator.jobs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test of real processes with a state directory of their own. Both are gone after each test. */
abstract class InJobDirectory {
    final RecordingJobListener heard = new RecordingJobListener();
    Path state = Path.of("");

    @BeforeEach
    void makeDirectory() throws IOException {
        state = Files.createTempDirectory("jobs"); // short: a socket's path must be
    }

    @AfterEach
    void leaveNothingBehind() throws IOException {
        processes().forEach(OsProcess::kill);
        delete(state);
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        }
    }

    /** Everything that was started from the state directory, in any way. */
    List<OsProcess> processes() {
        return OsProcess.carrying(
                "LENDSTREAM_AFE_SOCKET", state.resolve("jobs.sock").toString());
    }
}
