package io.lendstream.launcher;

import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.demo.Demo;
import io.lendstream.launcher.demo.DemoOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The whole system on one machine. */
@Command(
        name = "demo",
        description = {
            "Run the whole system on this machine, show it live, and write a report.",
            "Starts a Kafka broker, a schema registry, the Flink forecaster, the Kafka Streams scheduler, and simulated agents "
                    + "and actuators, each in its own process, and checks the history at the end. Needs only a JDK."
        },
        footer = "Example: lendstream demo --workload day --seconds 120 --out out/demo")
final class DemoCommand implements Callable<Integer> {
    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "0",
            description = {
                "Stop after N seconds and write the report.",
                "Default: ${DEFAULT-VALUE}, run to the end of the workload."
            })
    private long seconds;

    @Option(
            names = "--speed",
            paramLabel = "X",
            description = "Most virtual seconds per second. Default: as fast as the services answer.")
    private Optional<Double> speed = Optional.empty();

    @Option(
            names = "--workload",
            paramLabel = "W[,W...]",
            defaultValue = "day",
            description = {
                "Names of presets ('lendstream presets' lists them), or files in a published format.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String workload = "day";

    @Option(
            names = "--policy",
            paramLabel = "P",
            defaultValue = "deepboot",
            description = "The scheduling policy; 'lendstream policies' lists them. Default: ${DEFAULT-VALUE}.")
    private String policy = "deepboot";

    @Mixin
    private PlayOptions play = new PlayOptions();

    @Option(
            names = "--port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Port of the live page. Default: any free port.")
    private int port;

    @Option(names = "--headless", description = "No live page and no redrawn table; prints a line every few seconds.")
    private boolean headless;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "out/demo",
            description = "Directory for results. Default: ${DEFAULT-VALUE}.")
    private Path out = Path.of("out/demo");

    @Mixin
    private DataOptions data = new DataOptions();

    @Option(
            names = "--broker-port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Port for Kafka clients. Default: any free port.")
    private int brokerPort;

    @Option(
            names = "--registry-port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Port for registry clients. Default: any free port.")
    private int registryPort;

    @Option(
            names = "--exactly-once",
            description = "Run the scheduler with exactly_once_v2, as in a deployment. Default: at_least_once.")
    private boolean exactlyOnce;

    @Override
    public Integer call() {
        Bounds.check("--seconds", seconds, 0, Integer.MAX_VALUE);
        play.check(10_000);
        Bounds.check("--port", port, 0, 65_535);
        if (speed.isPresent() && !(speed.get() > 0)) {
            throw UserError.badUsage(
                    "--speed is %s, but must be above 0; leave it out for no bound.".formatted(speed.get()));
        }
        readable();
        var options = new DemoOptions(
                Duration.ofSeconds(seconds),
                speed.map(OptionalDouble::of).orElseGet(OptionalDouble::empty),
                withWholePaths(workload),
                play.scene(Demo.DOMAIN),
                play.layout(Demo.DOMAIN),
                policy,
                port,
                headless,
                out,
                exactlyOnce,
                data.stack(brokerPort, registryPort));
        return new Demo(options, System.out).run() ? 0 : UserError.FAILED;
    }

    /** Makes paths absolute: child processes have their own working directories. */
    private static String withWholePaths(String workload) {
        return Arrays.stream(workload.split(",", -1))
                .map(name -> Files.isRegularFile(Path.of(name.strip()))
                        ? Path.of(name.strip()).toAbsolutePath().normalize().toString()
                        : name)
                .collect(Collectors.joining(","));
    }

    /** Checks policy and workload before anything is started. */
    private void readable() {
        try {
            Policies.parse(policy);
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
        play.load(workload, Demo.DOMAIN);
    }
}
