package io.lendstream.launcher.demo;

import io.lendstream.stack.Child;
import io.lendstream.stack.OnExit;
import io.lendstream.stack.Ports;
import io.lendstream.stack.Readiness;
import io.lendstream.stack.RunningChild;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.SimulatedCluster;
import io.lendstream.stack.Stack;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The services of a demo, with their settings and readiness checks. */
final class DemoServices {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(90);
    /** Longer than in a deployment, or a day of virtual time would be mostly samples. */
    private static final String SAMPLE_PERIOD = "60s";

    private final Stack stack;
    private final DemoOptions options;

    DemoServices(Stack stack, DemoOptions options) {
        this.stack = stack;
        this.options = options;
    }

    /** Starts the services and waits until all are ready. */
    void start() {
        Map<RunningChild, Readiness> starting = new LinkedHashMap<>();
        launch(
                starting,
                ServiceKind.FORECASTER,
                "forecaster.state-dir=" + stack.dataDirectory().resolve("forecaster-state"));
        launch(
                starting,
                ServiceKind.SCHEDULER,
                SimulatedCluster.SCHEDULER,
                "scheduler.policy=" + options.policy(),
                "kafka.processing.guarantee=" + (options.deliverExactlyOnce() ? "exactly_once_v2" : "at_least_once"),
                "kafka.state.dir=" + stack.dataDirectory().resolve("scheduler-state"));
        launch(
                starting,
                ServiceKind.ACTUATOR,
                "actuator.domains=" + Demo.DOMAIN,
                "actuator.state-dir=" + stack.dataDirectory().resolve("actuator-state"));
        launch(
                starting,
                ServiceKind.AGENT,
                "agent.backend=simulated",
                "agent.domain=" + Demo.DOMAIN,
                "agent.nodes=" + options.layout().nodes(),
                "agent.gpus-per-node=" + options.layout().gpusPerNode(),
                "agent.training-nodes=" + options.layout().trainingNodes(),
                "agent.period=" + SAMPLE_PERIOD,
                "agent.seed=" + options.layout().seed());
        starting.forEach((child, readiness) -> stack.awaitReady(child, readiness, START_TIMEOUT));
    }

    private void launch(Map<RunningChild, Readiness> starting, ServiceKind kind, String... settings) {
        launch(starting, kind, List.of(), settings);
    }

    private void launch(
            Map<RunningChild, Readiness> starting, ServiceKind kind, List<String> preset, String... settings) {
        int port = Ports.free();
        var arguments = new ArrayList<String>(connection());
        arguments.addAll(List.of("--set", "time=virtual", "--set", "health.port=" + port));
        preset.forEach(setting -> arguments.addAll(List.of("--set", setting)));
        for (String setting : settings) {
            arguments.addAll(List.of("--set", setting));
        }
        Child child = kind.child(stack.installation()).withArguments(arguments);
        starting.put(stack.start(child), Readiness.http(URI.create("http://127.0.0.1:" + port + "/health/ready")));
    }

    /** Starts the load generator, which ends with the workload. */
    RunningChild play(Path results) {
        var arguments = new ArrayList<String>(connection());
        arguments.addAll(List.of(
                "--workload", options.workload(),
                "--nodes", String.valueOf(options.layout().nodes()),
                "--gpus-per-node", String.valueOf(options.layout().gpusPerNode()),
                "--training-nodes", String.valueOf(options.layout().trainingNodes()),
                "--seed", String.valueOf(options.layout().seed()),
                "--list-jobs", options.scene().elasticLists() ? "elastic" : "rigid",
                "--out", results.toString()));
        addPath(arguments, "--profiles", options.scene().profiles());
        addPath(arguments, "--services", options.scene().services());
        options.speed().ifPresent(speed -> arguments.addAll(List.of("--speed", String.valueOf(speed))));
        for (String setting : List.of(
                "time=virtual",
                "load.domain=" + Demo.DOMAIN,
                "load.policy=" + policyName(),
                "load.stop-after=" + options.limit().toSeconds() + "s")) {
            arguments.addAll(List.of("--set", setting));
        }
        return stack.start(ServiceKind.LOAD
                .child(stack.installation())
                .withArguments(arguments)
                .onExit(OnExit.finishes()));
    }

    /** Makes paths absolute: child processes have their own working directories. */
    private static void addPath(List<String> arguments, String option, Optional<Path> path) {
        path.ifPresent(
                file -> arguments.addAll(List.of(option, file.toAbsolutePath().toString())));
    }

    private String policyName() {
        return options.policy().split(":", 2)[0];
    }

    private List<String> connection() {
        return List.of(
                "--bootstrap-server",
                stack.bootstrapServers(),
                "--registry",
                stack.confluentUrl().toString(),
                "--set",
                "kafka.producer.linger.ms=0",
                "--set",
                "kafka.producer.compression.type=none");
    }
}
