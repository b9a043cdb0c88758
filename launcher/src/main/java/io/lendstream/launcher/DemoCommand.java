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

/** The whole loop on one machine. */
@Command(
        name = "demo",
        description = {
            "Play the whole loop on this machine, show it live, and write a report.",
            "A real Kafka broker, a schema registry, the Flink forecaster, the Kafka Streams scheduler, and simulated agents "
                    + "and actuators run, each as a process of its own; then the history is judged. Needs nothing but a JDK."
        },
        footer = "Example: lendstream demo --workload day --seconds 120 --out out/demo")
final class DemoCommand implements Callable<Integer> {
    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "0",
            description = "Break the play off after N seconds. Default: 0, which plays the workload to its end.")
    private long seconds;

    @Option(
            names = "--speed",
            paramLabel = "X",
            description = "Virtual seconds per second at most; as fast as everybody answers if not given.")
    private Optional<Double> speed = Optional.empty();

    @Option(
            names = "--workload",
            paramLabel = "W[,W...]",
            defaultValue = "day",
            description = {
                "Presets by name ('lendstream presets' lists them), or files in a published format.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String workload = "day";

    @Option(
            names = "--policy",
            paramLabel = "P",
            defaultValue = "deepboot",
            description = "Who gets which GPU; 'lendstream policies' lists them. Default: ${DEFAULT-VALUE}.")
    private String policy = "deepboot";

    @Mixin
    private PlayOptions play = new PlayOptions();

    @Option(
            names = "--port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Where the live page is served. Default: any free port.")
    private int port;

    @Option(names = "--headless", description = "No live page and no redrawn table: a line now and then.")
    private boolean headless;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "out/demo",
            description = "Where results are written. Default: ${DEFAULT-VALUE}.")
    private Path out = Path.of("out/demo");

    @Mixin
    private DataOptions data = new DataOptions();

    @Option(
            names = "--broker-port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Where Kafka clients connect. Default: any free port.")
    private int brokerPort;

    @Option(
            names = "--registry-port",
            paramLabel = "P",
            defaultValue = "0",
            description = "Where registry clients connect. Default: any free port.")
    private int registryPort;

    @Option(
            names = "--exactly-once",
            description = "Run the scheduler exactly-once, as in a deployment; the demo's default is at-least-once.")
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

    /** Children work in directories of their own, where a relative path would mean something else. */
    private static String withWholePaths(String workload) {
        return Arrays.stream(workload.split(",", -1))
                .map(name -> Files.isRegularFile(Path.of(name.strip()))
                        ? Path.of(name.strip()).toAbsolutePath().normalize().toString()
                        : name)
                .collect(Collectors.joining(","));
    }

    /** What cannot be read is said before anything is started. */
    private void readable() {
        try {
            Policies.parse(policy);
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
        play.load(workload, Demo.DOMAIN);
    }
}
