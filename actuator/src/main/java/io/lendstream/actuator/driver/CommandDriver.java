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
 * Runs a program of the site for every order. The order is a line of JSON on its standard input, never an argument or
 * part of a shell line. Exit status 0: the order is executed. 75 (EX_TEMPFAIL of sysexits.h): run it again. Any other
 * status: the order fails, with the last line of standard error as the reason.
 */
public final class CommandDriver extends ExternalDriver {
    private static final int AGAIN = 75;

    private final List<String> command;
    private final CleanEnvironment environment;

    /**
     * @param command a program and its arguments, passed unchanged
     * @param environment the environment that it inherits
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
            return List.of("actuator.command begins with '%s', which is not an absolute path; give the full path"
                    .formatted(program));
        }
        return Files.isExecutable(program)
                ? List.of()
                : List.of(
                        "actuator.command begins with %s, which this user cannot run; correct the path or its permissions"
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
                    new Attempt.Hopeless("%s exited with status %d: %s"
                            .formatted(command.get(0), status.getAsInt(), run.lastLine()));
            };
        } catch (IOException e) {
            return new Attempt.Hopeless("cannot run %s: %s".formatted(command.get(0), e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Attempt.Again(Duration.ofSeconds(1), "interrupted");
        }
    }
}
