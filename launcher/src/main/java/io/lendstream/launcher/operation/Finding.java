package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The result of one check of a deployment.
 *
 * @param name the name of the check
 * @param found the observation
 * @param wayOut the remedy; empty if none is needed
 */
record Finding(String name, Level level, String found, String wayOut) {
    /** The severity of a finding. */
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
