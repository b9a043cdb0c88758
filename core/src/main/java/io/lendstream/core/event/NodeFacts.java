package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What else an agent knows of its node.
 *
 * @param labels the labels that the agent was configured to send, such as the node's rack
 * @param cpuMillis the CPU that jobs may use there, in thousandths of a core, if known
 * @param memoryBytes the host memory that jobs may use there, if known
 */
public record NodeFacts(Map<String, String> labels, Optional<Long> cpuMillis, Optional<Long> memoryBytes) {
    /** Nothing is known. */
    public static final NodeFacts NONE = new NodeFacts(Map.of());

    public NodeFacts {
        SortedMap<String, String> sorted = new TreeMap<>(labels);
        labels = Collections.unmodifiableSortedMap(sorted);
        cpuMillis.ifPresent(millis -> Checks.atLeast("cpuMillis", 1, millis));
        memoryBytes.ifPresent(bytes -> Checks.atLeast("memoryBytes", 1, bytes));
    }

    /** Labels only. */
    public NodeFacts(Map<String, String> labels) {
        this(labels, Optional.empty(), Optional.empty());
    }

    /** The same with the CPU and host memory of the node, as far as they are known. */
    public NodeFacts withHost(Optional<Long> cpu, Optional<Long> memory) {
        return new NodeFacts(labels, cpu, memory);
    }

    /** Whether its CPU or host memory is known. */
    public boolean hasHost() {
        return cpuMillis.isPresent() || memoryBytes.isPresent();
    }
}
