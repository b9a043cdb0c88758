package io.lendstream.launcher.demo;

import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.stack.StackSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalDouble;

/**
 * What a demo is to do.
 *
 * @param limit wall-clock time after which the play is broken off; zero lets the workload end
 * @param speed virtual seconds per second at most; empty for no bound
 * @param scene what the workload is made for
 * @param layout the nodes that it plays on
 * @param policy the policy's spec
 * @param port of the live page; 0 for any that is free
 * @param headless neither page nor redrawn table
 * @param deliverExactlyOnce whether the scheduler runs exactly-once instead of at-least-once
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
        StackSettings stack) {}
