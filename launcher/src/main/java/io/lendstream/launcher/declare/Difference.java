package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A value of an object that changes.
 *
 * @param path its field, such as {@code batch.max}
 * @param before the value; missing if there was none
 * @param after the value; missing if there is none any more
 */
record Difference(String path, JsonNode before, JsonNode after) {
    private static final int LONGEST_SHOWN = 80;

    /** The values that differ between two objects, in the order of their fields. */
    static List<Difference> between(JsonNode before, JsonNode after) {
        List<Difference> differences = new ArrayList<>();
        compare("", before, after, differences);
        return differences;
    }

    private static void compare(String path, JsonNode before, JsonNode after, List<Difference> to) {
        if (before.equals(after)) {
            return;
        }
        if (before.isObject() && after.isObject()) {
            Set<String> names = new LinkedHashSet<>();
            after.fieldNames().forEachRemaining(names::add);
            before.fieldNames().forEachRemaining(names::add);
            for (String name : names) {
                compare(path.isEmpty() ? name : path + "." + name, before.path(name), after.path(name), to);
            }
        } else if (before.isArray() && after.isArray() && before.size() == after.size()) {
            for (int i = 0; i < after.size(); i++) {
                compare("%s[%d]".formatted(path, i), before.get(i), after.get(i), to);
            }
        } else {
            to.add(new Difference(path, before, after));
        }
    }

    /** The change for people, such as {@code floor: 2 -> 3}. */
    String inWords() {
        return "%s: %s -> %s".formatted(path, text(before), text(after));
    }

    private static String text(JsonNode value) {
        if (value.isMissingNode()) {
            return "none";
        }
        String text = value.isContainerNode() ? value.toString() : value.asText();
        return text.length() > LONGEST_SHOWN ? text.substring(0, LONGEST_SHOWN) + "..." : text;
    }

    /** A value as JSON; empty if there is none. */
    static Optional<JsonNode> known(JsonNode value) {
        return value instanceof MissingNode ? Optional.empty() : Optional.of(value);
    }
}
