package io.lendstream.actuator.adoption;

import static org.awaitility.Awaitility.await;

import io.lendstream.service.host.HostProcesses;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.awaitility.core.ThrowingRunnable;

/** Real processes that something else than Lendstream has started. All are killed at the end. */
public final class Strangers implements AutoCloseable {
    private final Path directory;
    private final Path shell;
    private final List<Process> started = new ArrayList<>();

    /** @param directory their working directory, with a copy of the shell: so no ancestor has the same program */
    public Strangers(Path directory) throws IOException {
        this.directory = directory;
        this.shell = directory.resolve("trainer");
        Files.copy(Path.of("/bin/sh").toRealPath(), shell);
    }

    /** A host for which the system refuses signals to some processes, by their names. */
    public static AdoptionHost host(Path state, Function<String, Optional<String>> refusals) throws IOException {
        var processes = new HostProcesses();
        return new AdoptionHost(
                Files.createDirectory(state),
                (tenant, end) -> {},
                InstantSource.system(),
                pid -> refusals.apply(processes.of(pid).orElseThrow().name().toString()),
                ProcessHandle.current().pid());
    }

    /** Starts a script; {@code $0} in it is the copy of the shell. */
    public Process start(String script, Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(shell.toString(), "-c", script, shell.toString()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        Process process = builder.start();
        started.add(process);
        return process;
    }

    /** A process that ends at SIGTERM, with a child. */
    public Process idle(String... arguments) throws IOException {
        return start("sleep 300 & wait", Map.of(), arguments);
    }

    /** The name by which agents report a process. */
    public static String user(Process process) {
        var host = new HostProcesses();
        return host.of(process.pid()).orElseThrow().name().toString();
    }

    /** Everything that was started here and runs. */
    public List<Long> running() {
        var host = new HostProcesses();
        return host.all().stream()
                .filter(each -> host.directory(each)
                        .filter(directory.toString()::equals)
                        .isPresent())
                .map(each -> each.pid())
                .toList();
    }

    @Override
    public void close() {
        for (Process process : started) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        running().forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    }

    /** Asserts that something is so, and stays so for a while in which it could change. */
    public static void stays(ThrowingRunnable what) {
        await().during(Duration.ofMillis(300)).atMost(Duration.ofSeconds(10)).untilAsserted(what);
    }
}
