package io.lendstream.launcher.demo;

import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.stack.StackSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * The options of a demo.
 *
 * @param limit wall-clock time after which the demo stops; zero for the end of the workload
 * @param speed most virtual seconds per second; empty for no bound
 * @param scene the cluster that the workload is made for
 * @param layout the nodes of the demo
 * @param policy the policy's spec
 * @param port port of the live page; 0 for any free port
 * @param headless whether to leave out the page and the redrawn table
 * @param deliverExactlyOnce whether the scheduler runs with exactly_once_v2
 */
public record DemoOptions(
        Duration limit,
        OptionalDouble speed,
        String workload,
        Scene scene,
        SimulatedNodes.Layout layout,
        String policy,
        int port,
        boolean headless,
        Path out,
        boolean deliverExactlyOnce,
        StackSettings stack) {
    /** The workload for titles: presets by name, files by their names without directories. */
    public String title() {
        return Arrays.stream(workload.split(",", -1))
                .map(String::strip)
                .map(name ->
                        name.isEmpty() ? name : String.valueOf(Path.of(name).getFileName()))
                .collect(Collectors.joining(","));
    }
}
