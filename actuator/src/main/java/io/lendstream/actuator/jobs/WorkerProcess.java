package io.lendstream.actuator.jobs;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The processes of one worker: its program with all descendants, identified by an environment variable that children
 * inherit. A small shell waits for the program and saves its exit code in a file, so the node process may end and
 * another may take over.
 */
final class WorkerProcess {
    static final String NAME = "LENDSTREAM_AFE_WORKER";

    /**
     * Arguments are passed unchanged. The directory is claimed once: by the worker, or by the process that abandons
     * the worker.
     */
    private static final String SHELL = """
            directory=$1; shift
            mkdir "$directory/claimed" || exit 125
            "$@"
            echo $? > "$directory/exit.new" && mv "$directory/exit.new" "$directory/exit"
            """;

    private static final int KILLED = 128 + 9;
    private static final int TAIL_BYTES = 8192;
    private static final int LINES = 20;

    private final String name;
    private final Path directory;
    private final Set<OsProcess> processes = new LinkedHashSet<>();
    private boolean killed;

    private WorkerProcess(String name, Path directory) {
        this.name = name;
        this.directory = directory;
    }

    /**
     * Starts a worker.
     *
     * @param inherited environment inherited from this process
     * @param environment further variables
     * @throws UncheckedIOException if it cannot be started: a full disk; or, by a {@link ProgramMissingException}, a
     *     missing directory or program
     * @throws IllegalArgumentException if an argument or a variable is not allowed for any process
     */
    static WorkerProcess start(
            String name,
            Path directory,
            List<String> command,
            CleanEnvironment inherited,
            Map<String, String> environment,
            Path workingDirectory) {
        var worker = new WorkerProcess(name, directory);
        List<String> all = new ArrayList<>(List.of("setsid", "sh", "-c", SHELL, "lendstream-worker"));
        all.add(directory.toString());
        all.addAll(command);
        if (all.stream().anyMatch(each -> each.indexOf('\0') >= 0)) {
            throw new IllegalArgumentException("an argument of %s has a NUL character".formatted(command.get(0)));
        }
        try {
            PrivateFiles.directory(directory);
            PrivateFiles.empty(worker.log());
            var builder = new ProcessBuilder(all)
                    .directory(workingDirectory.toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectErrorStream(true)
                    .redirectOutput(
                            ProcessBuilder.Redirect.appendTo(worker.log().toFile()));
            inherited.set(builder, environment);
            check(command, workingDirectory, builder);
            builder.environment().put(NAME, name);
            OsProcess.of(builder.start().pid()).ifPresent(worker.processes::add);
        } catch (IOException e) {
            throw new UncheckedIOException("worker %s cannot be started".formatted(name), e);
        }
        return worker;
    }

    private static void check(List<String> command, Path workingDirectory, ProcessBuilder builder)
            throws ProgramMissingException {
        Optional<String> path = Optional.ofNullable(builder.environment().get("PATH"));
        Optional<String> complaint = ProgramCheck.complaint(command, workingDirectory, path);
        if (complaint.isPresent()) {
            throw new ProgramMissingException(complaint.get());
        }
    }

    /** A worker of an earlier node process, running or not started yet; after this call it can no longer start. */
    static WorkerProcess adopt(String name, Path directory) {
        var worker = new WorkerProcess(name, directory);
        try {
            Files.createDirectory(directory.resolve("claimed"));
        } catch (FileAlreadyExistsException e) {
            worker.processes.addAll(OsProcess.carrying(NAME, name));
        } catch (IOException e) {
            // Its directory does not exist.
            return worker;
        }
        return worker;
    }

    /** Whether it has no process left. Ends processes that the program has left behind. */
    boolean isGone() {
        processes.removeIf(process -> !process.isAlive());
        boolean ended = killed || Files.exists(directory.resolve("exit"));
        if (processes.isEmpty() || ended) {
            processes.addAll(OsProcess.carrying(NAME, name));
        }
        if (ended) {
            processes.forEach(OsProcess::kill);
        }
        return processes.isEmpty();
    }

    void kill() {
        killed = true;
        isGone();
    }

    /** Sends SIGTERM to the program. */
    void terminate() {
        for (OsProcess each : OsProcess.carrying(NAME, name)) {
            if (each.pid() == each.session()) {
                each.terminateChildren();
            }
        }
    }

    /** Exit code of the program, as a shell reports it; that of SIGKILL if the shell was killed too. */
    int exitCode() {
        return readExit().orElse(KILLED);
    }

    private OptionalInt readExit() {
        try {
            return OptionalInt.of(
                    Integer.parseInt(Files.readString(directory.resolve("exit")).strip()));
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    List<String> lastLines() {
        try (var file = Files.newByteChannel(log())) {
            file.position(Math.max(0, file.size() - TAIL_BYTES));
            var bytes = java.nio.channels.Channels.newInputStream(file).readAllBytes();
            List<String> lines =
                    new String(bytes, StandardCharsets.UTF_8).lines().toList();
            return lines.subList(Math.max(0, lines.size() - LINES), lines.size());
        } catch (IOException e) {
            return List.of();
        }
    }

    private Path log() {
        return directory.resolve("log");
    }
}
