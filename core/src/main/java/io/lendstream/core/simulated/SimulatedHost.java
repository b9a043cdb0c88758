package io.lendstream.core.simulated;

import io.lendstream.core.event.NodeFacts;
import java.util.Optional;

/**
 * The CPU and host memory of each simulated node.
 *
 * @param cpuMillis in thousandths of a core; 0 if the node does not report it
 * @param memoryBytes 0 if the node does not report it
 */
public record SimulatedHost(long cpuMillis, long memoryBytes) {
    /** Nodes that report neither. */
    public static final SimulatedHost NONE = new SimulatedHost(0, 0);

    private static final long MILLIS_PER_CPU = 1000;

    public SimulatedHost {
        if (cpuMillis < 0 || memoryBytes < 0) {
            throw new IllegalArgumentException("CPU and memory of a node must be at least 0, but were %d and %d"
                    .formatted(cpuMillis, memoryBytes));
        }
    }

    /** Nodes with so many CPUs. */
    public static SimulatedHost of(int cpus, long memoryBytes) {
        return new SimulatedHost(cpus * MILLIS_PER_CPU, memoryBytes);
    }

    /** The CPUs of each node; 0 if it does not report them. */
    public int cpus() {
        return (int) (cpuMillis / MILLIS_PER_CPU);
    }

    /** The facts of a node with its CPU and host memory. */
    NodeFacts with(NodeFacts facts) {
        return equals(NONE) ? facts : facts.withHost(known(cpuMillis), known(memoryBytes));
    }

    private static Optional<Long> known(long amount) {
        return amount > 0 ? Optional.of(amount) : Optional.empty();
    }
}
