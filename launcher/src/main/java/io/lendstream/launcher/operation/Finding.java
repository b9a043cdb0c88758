package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What one check of a deployment came to.
 *
 * @param name what was looked at
 * @param found what was seen
 * @param wayOut what to do about it; empty where nothing is to be done
 */
record Finding(String name, Level level, String found, String wayOut) {
    /** How bad it is. */
    enum Level {
        OK("ok"),
        WARN("warn"),
        FAIL("FAIL");

        private final String label;

        Level(String label) {
            this.label = label;
        }
    }

    static Finding ok(String name, String found) {
        return new Finding(name, Level.OK, found, "");
    }

    static Finding warn(String name, String found, String wayOut) {
        return new Finding(name, Level.WARN, found, wayOut);
    }

    static Finding fail(String name, String found, String wayOut) {
        return new Finding(name, Level.FAIL, found, wayOut);
    }

    boolean isFailure() {
        return level == Level.FAIL;
    }

    String line() {
        return "%-4s %s: %s%s".formatted(level.label, name, found, wayOut.isEmpty() ? "" : "; " + wayOut);
    }

    ObjectNode json() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("name", name)
                .put("level", level.label.toLowerCase(java.util.Locale.ROOT))
                .put("found", found)
                .put("wayOut", wayOut);
    }
}
