package io.lendstream.launcher.deploy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which long tasks {@code ./dev} takes for done. */
class DeveloperTasksTest {
    @TempDir
    Path root;

    @BeforeEach
    void copyTheScript() throws IOException {
        Files.createDirectories(root.resolve("benchmarks/results"));
        Files.copy(Path.of("../dev"), root.resolve("dev"));
    }

    /** A table of so many days ago with rows of tasks and exit statuses. */
    private void table(int daysAgo, String... rows) throws IOException {
        LocalDate day = LocalDate.now(ZoneOffset.UTC).minusDays(daysAgo);
        StringBuilder table =
                new StringBuilder("| task | commit | minutes | exit | last line |\n|---|---|---|---|---|\n");
        for (String row : rows) {
            String[] parts = row.split("=", -1);
            table.append("| %s | 0a1b2c3d | 12 | %s | `{\"exit\":0} / 0 /` |\n".formatted(parts[0], parts[1]));
        }
        Files.writeString(root.resolve("benchmarks/results/%s-all.md".formatted(day)), table.toString());
    }

    private String overdue() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("bash", root.resolve("dev").toString(), "overdue")
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    @Test
    void aTaskThatFailedIsStillToBeRun() throws Exception {
        table(1, "soak=1", "audit=0", "bench replay=124");

        assertThat(overdue()).contains("soak (never)", "bench replay (never)").doesNotContain("audit");
    }

    @Test
    void ofSeveralRunsTheLastThatPassedCounts() throws Exception {
        String weeksAgo = LocalDate.now(ZoneOffset.UTC).minusDays(20).toString();
        table(20, "soak=0", "audit=0");
        table(3, "soak=1", "audit=0");

        assertThat(overdue()).contains("soak (%s)".formatted(weeksAgo)).doesNotContain("audit");
    }
}
