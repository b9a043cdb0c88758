package io.lendstream.actuator.adoption;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.service.fake.FakeProc;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdoptedProcessTest {
    @TempDir
    private Path directory;

    @Test
    void aPidThatCameAgainAfterTheListingIsNotNoted() throws Exception {
        try (var strangers = new Strangers(
                Files.createDirectory(directory.resolve("strangers")).toRealPath())) {
            Process process = strangers.start("sleep 300 & sleep 300 & wait", Map.of());
            await().atMost(ofSeconds(10)).until(() -> process.children().count() == 2);
            HostProcess root = new HostProcesses().of(process.pid()).orElseThrow();
            long[] children =
                    process.children().mapToLong(ProcessHandle::pid).sorted().toArray();
            var fake = new FakeProc(directory.resolve("proc"))
                    .with(root.pid(), 1, root.startTicks(), "/bin/a")
                    .with(children[0], root.pid(), root.startTicks() + 1, "/bin/a")
                    .with(children[1], 1, root.startTicks() + 2, "/bin/b");

            new AdoptedProcess(root.name(), new HostProcesses(fake.directory())).kill();

            await().atMost(ofSeconds(10))
                    .until(() -> ProcessHandle.of(children[0])
                            .filter(ProcessHandle::isAlive)
                            .isEmpty());
            assertThat(strangers.running()).containsExactly(children[1]);
        }
    }
}
