package io.lendstream.core.event;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What else an agent knows of its node.
 *
 * @param labels the labels that the agent was configured to send, such as the node's rack
 */
public record NodeFacts(Map<String, String> labels) {
    /** Nothing is known. */
    public static final NodeFacts NONE = new NodeFacts(Map.of());

    public NodeFacts {
        SortedMap<String, String> sorted = new TreeMap<>(labels);
        labels = Collections.unmodifiableSortedMap(sorted);
    }
}
