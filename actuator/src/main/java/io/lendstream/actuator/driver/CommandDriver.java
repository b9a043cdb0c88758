package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.core.actuation.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/**
 * Runs a program of the site's for every order: the order is a line of JSON on its standard input, never an argument or part of a
 * shell's line. Exit status 0 says that all of it is so; 75 (EX_TEMPFAIL of sysexits.h) asks to be run again; every other that it
 * will not be so, and the last line of its standard error why.
 */
public final class CommandDriver extends ExternalDriver {
    private static final int AGAIN = 75;

    private final List<String> command;
    private final CleanEnvironment environment;

    /**
     * @param command a program and its arguments, as they are
     * @param environment what it inherits
     */
    public CommandDriver(
            List<String> command, CleanEnvironment environment, DriverLimits limits, DriverListener driverListener) {
        super("command-driver", limits, driverListener);
        this.command = List.copyOf(command);
        this.environment = environment;
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
        try {
            CommandRun run = CommandRun.start(command, environment, OrderJson.of(order) + "\n");
            OptionalInt status = run.await(limits().timeout());
            if (status.isEmpty()) {
                return new Attempt.Hopeless("%s did not end within %s".formatted(command.get(0), limits().timeout()));
            }
            return switch (status.getAsInt()) {
                case 0 -> new Attempt.Done();
                case AGAIN -> new Attempt.Again(Duration.ofSeconds(1), run.lastLine());
                default ->
                    new Attempt.Hopeless(
                            "%s ended with %d: %s".formatted(command.get(0), status.getAsInt(), run.lastLine()));
            };
        } catch (IOException e) {
            return new Attempt.Hopeless("%s cannot be run: %s".formatted(command.get(0), e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Attempt.Again(Duration.ofSeconds(1), "interrupted");
        }
    }
}
