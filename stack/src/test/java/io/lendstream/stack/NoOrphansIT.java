package io.lendstream.stack;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class NoOrphansIT {

    /** A command that runs a stack until a signal. */
    static final class Command {

        private Command() {}

        public static void main(String[] args) throws InterruptedException {
            var settings = StackSettings.defaults().withDataDirectory(Path.of(args[0]));
            try (var stack = Stack.start(settings, Installation.find(), line -> {})) {
                System.out.println("ready");
                new CountDownLatch(1).await();
                stack.children();
            }
        }
    }

    @TempDir
    private Path directory;

    private Process command;
    private List<ProcessHandle> children = List.of();

    @BeforeEach
    void startACommandWithChildren() throws IOException {
        command = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dlendstream.home=" + Installation.find().home(),
                        Command.class.getName(),
                        directory.resolve("run").toString())
                .redirectErrorStream(true)
                .start();
        var output = new BufferedReader(new InputStreamReader(command.getInputStream(), UTF_8));
        assertThat(output.lines().filter(line -> line.equals("ready")).findFirst())
                .isPresent();
        children = command.children().toList();
        assertThat(children).hasSizeGreaterThanOrEqualTo(2);
    }

    @AfterEach
    void leaveNothingWhateverHappened() {
        command.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    void childrenEndByThemselvesWhenTheCommandIsKilled() {
        command.destroyForcibly();

        await().atMost(20, SECONDS).untilAsserted(() -> assertThat(children).noneMatch(ProcessHandle::isAlive));
    }

    @Test
    void ctrlCStopsEverythingAndLeavesNoFile() throws Exception {
        assumeThat(Path.of("/bin/kill")).exists();

        // A terminal tells children too; they leave it to the command, which stops them in order. The command itself is
        // told with the other signal that means the same, since a shell in the background may have it ignore this one.
        for (ProcessHandle child : children) {
            new ProcessBuilder("/bin/kill", "-INT", String.valueOf(child.pid()))
                    .start()
                    .waitFor();
        }
        assertThat(children).allMatch(ProcessHandle::isAlive);
        command.destroy();

        assertThat(command.waitFor(30, SECONDS)).isTrue();
        assertThat(children).noneMatch(ProcessHandle::isAlive);
        assertThat(directory).isEmptyDirectory();
    }
}
