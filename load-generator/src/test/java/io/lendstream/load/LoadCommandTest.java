package io.lendstream.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.ServiceCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoadCommandTest {
    private final PrintStream stderr = System.err;
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @AfterEach
    void restoreTheStream() {
        System.setErr(stderr);
    }

    @Test
    void aMissingWorkloadIsAnErrorBeforeAnyConnection() {
        assertThat(run("--workload", "nosuch")).isEqualTo(2);
        assertThat(text()).startsWith("there is no workload 'nosuch'").hasLineCount(1);
    }

    @Test
    void anUnknownKindOfListJobsIsAnError() {
        assertThat(run("--list-jobs", "rubber")).isEqualTo(2);
        assertThat(text()).isEqualTo("--list-jobs is 'rubber', but must be rigid or elastic.\n");
    }

    @Test
    void anInvalidOutputDirectoryIsAnErrorBeforeAnyConnection(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("notes.txt"), "mine");

        assertThat(run("--out", file.toString())).isEqualTo(2);
        assertThat(text()).isEqualTo("--out is %s, but is a file; name another directory.\n".formatted(file));
    }

    @Test
    void aWorkloadThatIsCutOffIsAnErrorInOneLine(@TempDir Path directory) throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write("job,submitSeconds,gpus,runSeconds\n".getBytes(StandardCharsets.UTF_8));
            Random random = new Random(1);
            for (int i = 0; i < 3000; i++) {
                gzip.write("job-%08x,0,1,60\n".formatted(random.nextInt()).getBytes(StandardCharsets.UTF_8));
            }
        }
        byte[] half = Arrays.copyOf(packed.toByteArray(), packed.size() / 2);
        Path file = Files.write(directory.resolve("jobs.csv.gz"), half);

        assertThat(run("--workload", file.toString())).isEqualTo(2);
        assertThat(text())
                .contains(file + " is cut off: the gzip stream ends early; copy it again")
                .hasLineCount(1);
    }

    private int run(String... arguments) {
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        return ServiceCommand.execute(new LoadCommand(), arguments);
    }

    private String text() {
        return said.toString(StandardCharsets.UTF_8);
    }
}
