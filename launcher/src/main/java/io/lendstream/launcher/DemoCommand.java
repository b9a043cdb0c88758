package io.lendstream.launcher;

import io.lendstream.launcher.stack.Installation;
import io.lendstream.launcher.stack.Stack;
import io.lendstream.launcher.stack.StackException;
import io.lendstream.launcher.stack.StackSettings;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The whole loop on one machine; at this time its broker and registry, to be used by services that run apart. */
@Command(
        name = "demo",
        description = {
            "Start a real single-node Kafka and a schema registry, and stop them at the end.",
            "Needs nothing but a JDK; all files are in one directory, which is deleted after a clean stop."
        },
        footer = {"Example: lendstream demo --seconds 60 --broker-port 9092"})
final class DemoCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "0",
            description = "Stop after N seconds; 0 runs until Ctrl-C.")
    private long seconds;

    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            showDefaultValue = CommandLine.Help.Visibility.NEVER,
            description = "New or empty; a temporary one where it is not named.")
    private Optional<Path> dataDirectory = Optional.empty();

    @Option(names = "--keep-data", description = "Leave the run's files where they are.")
    private boolean keepData;

    @Option(
            names = "--broker-port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Where Kafka clients connect; 0 is any free port.")
    private int brokerPort;

    @Option(
            names = "--registry-port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Where registry clients connect; 0 is any free port.")
    private int registryPort;

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        if (seconds < 0) {
            throw UserError.badUsage("--seconds is %d, but must be at least 0 (until Ctrl-C).".formatted(seconds));
        }
        PrintWriter out = spec.commandLine().getOut();
        var settings = new StackSettings(
                dataDirectory,
                keepData,
                brokerPort,
                registryPort,
                Map.of(),
                StackSettings.defaults().startTimeout());
        try (var stack = Stack.start(settings, Installation.find(), line -> say(out, line))) {
            say(out, "broker on %s, registry on %s".formatted(stack.bootstrapServers(), stack.confluentUrl()));
            long wait = seconds == 0 ? Long.MAX_VALUE : seconds;
            StackException failure = stack.failure().get(wait, TimeUnit.SECONDS);
            throw failure;
        } catch (TimeoutException e) {
            return 0;
        }
    }

    private static void say(PrintWriter out, String line) {
        out.println(line);
        out.flush();
    }
}
