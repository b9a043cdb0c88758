package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program of the site's for every order: the order is a line of JSON on its standard input, never an argument or part of a
 * shell's line. Exit status 0 says that all of it is so; 75 (EX_TEMPFAIL of sysexits.h) asks to be run again; every other that it
 * will not be so, and the last line of its standard error why.
 */
public final class CommandDriver extends OutsideDriver {
    private static final int AGAIN = 75;

    private final List<String> command;

    /** @param command a program and its arguments, as they are */
    public CommandDriver(List<String> command, Limits limits, Ear ear) {
        super("command-driver", limits, ear);
        this.command = List.copyOf(command);
    }

    @Override
    public List<String> plan(Order order) {
        return List.of("run %s with %s on its standard input".formatted(command, OrderJson.of(order)));
    }

    @Override
    public List<String> complaints() {
        if (command.isEmpty()) {
            return List.of("actuator.command is empty; name a program and its arguments");
        }
        Path program = Path.of(command.get(0));
        if (!program.isAbsolute()) {
            return List.of(
                    "actuator.command begins with '%s', which is no absolute path; write it out".formatted(program));
        }
        return Files.isExecutable(program)
                ? List.of()
                : List.of("actuator.command begins with %s, which this user cannot run; correct it or its rights"
                        .formatted(program));
    }

    @Override
    Attempt attempt(Order order) {
        Path errors;
        try {
            errors = Files.createTempFile("lendstream-command", ".err");
        } catch (IOException e) {
            return new Attempt.Again(Duration.ofSeconds(5), "no temporary file: " + e.getMessage());
        }
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(errors.toFile())
                    .start();
            try (OutputStream in = process.getOutputStream()) {
                in.write((OrderJson.of(order) + "\n").getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                // It does not read; its exit status will tell.
            }
            if (!process.waitFor(limits().timeout().toMillis(), TimeUnit.MILLISECONDS)) {
                end(process);
                return new Attempt.Hopeless("%s did not end within %s".formatted(command.get(0), limits().timeout()));
            }
            return switch (process.exitValue()) {
                case 0 -> new Attempt.Done();
                case AGAIN -> new Attempt.Again(Duration.ofSeconds(1), lastLine(errors));
                default ->
                    new Attempt.Hopeless(
                            "%s ended with %d: %s".formatted(command.get(0), process.exitValue(), lastLine(errors)));
            };
        } catch (IOException e) {
            return new Attempt.Hopeless("%s cannot be run: %s".formatted(command.get(0), e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Attempt.Again(Duration.ofSeconds(1), "interrupted");
        } finally {
            errors.toFile().delete();
        }
    }

    /** With all that it has started. */
    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private static String lastLine(Path errors) throws IOException {
        List<String> lines = Files.readString(errors, StandardCharsets.ISO_8859_1)
                .strip()
                .lines()
                .toList();
        return lines.isEmpty() ? "it did not say why" : lines.get(lines.size() - 1);
    }
}
