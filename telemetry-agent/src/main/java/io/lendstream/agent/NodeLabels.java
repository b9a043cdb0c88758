package io.lendstream.agent;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.NodeFacts;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads the labels of a node from a setting. */
final class NodeLabels {
    private NodeLabels() {}

    /** The labels of a text {@code KEY=VALUE,KEY=VALUE}; empty if it is not of that form, or has a key twice. */
    static Optional<NodeFacts> parse(String text) {
        Map<String, String> labels = new TreeMap<>();
        for (String part : text.split(",", -1)) {
            String label = part.strip();
            int equals = label.indexOf('=');
            if (label.isEmpty()) {
                continue;
            }
            if (equals < 1 || !isName(label.substring(0, equals)) || !isName(label.substring(equals + 1))) {
                return Optional.empty();
            }
            if (labels.put(label.substring(0, equals), label.substring(equals + 1)) != null) {
                return Optional.empty();
            }
        }
        return Optional.of(new NodeFacts(labels));
    }

    private static boolean isName(String text) {
        try {
            return !Limits.name("label", text).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
