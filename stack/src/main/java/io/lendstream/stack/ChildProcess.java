package io.lendstream.stack;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One run of a child: its process and the log of its output. */
final class ChildProcess {

    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final int TAIL_BYTES = 64 << 10;

    private final Process process;
    private final Path log;

    private ChildProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /**
     * Starts it below {@link ChildMain}.
     *
     * @param directory its working directory, also for temporary files
     */
    static ChildProcess start(Child child, Path log, Path directory) {
        try {
            Path temporary = Files.createDirectories(directory.resolve("tmp"));
            var builder = builder(child.withSystemProperty("java.io.tmpdir", temporary.toString()))
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            return new ChildProcess(builder.start(), log);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be started: %s".formatted(child.name(), e.getMessage()), e);
        }
    }

    /** Starts it in the directory of this process, with the output of this process. */
    static Process inForeground(Child child) {
        try {
            return builder(child)
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be started: %s".formatted(child.name(), e.getMessage()), e);
        }
    }

    /** Starts it in the directory of this process, with its output as a stream. */
    static Process heard(Child child) {
        try {
            return builder(child).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be started: %s".formatted(child.name(), e.getMessage()), e);
        }
    }

    private static ProcessBuilder builder(Child child) {
        var builder = new ProcessBuilder(commandOf(child));
        // In the environment rather than on the command line, which ps shows.
        builder.environment().put("CLASSPATH", classPathOf(child));
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2"); // glibc would keep one pool per thread
        return builder;
    }

    private static List<String> commandOf(Child child) {
        var command = new ArrayList<String>();
        command.add(JAVA.toString());
        command.addAll(child.jvm().flags());
        child.systemProperties().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(property -> command.add("-D" + property.getKey() + "=" + property.getValue()));
        command.add(ChildMain.class.getName());
        command.add(child.mainClass());
        command.addAll(child.arguments());
        return command;
    }

    private static String classPathOf(Child child) {
        return Stream.concat(child.classPath().stream(), Stream.of(Installation.self()))
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Completes with its exit code. */
    CompletableFuture<Integer> exit() {
        return process.onExit().thenApply(Process::exitValue);
    }

    void stop(Duration patience) {
        stop(process, patience);
    }

    /** Asks it to end by closing its input; kills it after a time. */
    static void stop(Process process, Duration patience) {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // it is gone already
        }
        if (!ended(process, patience)) {
            process.destroyForcibly();
            ended(process, Duration.ofSeconds(5));
        }
    }

    private static boolean ended(Process process, Duration patience) {
        try {
            return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The last lines of its log. */
    List<String> lastLines(int count) {
        return lastLines(log, count);
    }

    static List<String> lastLines(Path log, int count) {
        try (var file = new RandomAccessFile(log.toFile(), "r")) {
            long from = Math.max(0, file.length() - TAIL_BYTES);
            file.seek(from);
            byte[] tail = new byte[(int) (file.length() - from)];
            file.readFully(tail);
            List<String> lines = new String(tail, StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .toList();
            return lines.subList(Math.max(0, lines.size() - count), lines.size());
        } catch (IOException e) {
            return List.of();
        }
    }
}
