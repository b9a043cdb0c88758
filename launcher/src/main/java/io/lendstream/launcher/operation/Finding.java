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
        /** No record of a service, so that there is nothing to check: a warning. */
        SILENT("warn"),
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

    static Finding silent(String name, String found, String wayOut) {
        return new Finding(name, Level.SILENT, found, wayOut);
    }

    static Finding warn(String name, String found, String wayOut) {
        return new Finding(name, Level.WARN, found, wayOut);
    }

    static Finding fail(String name, String found, String wayOut) {
        return new Finding(name, Level.FAIL, found, wayOut);
    }

    /** The finding while virtual time does not run: a silent service waits for it. */
    Finding whilePaused() {
        return level == Level.SILENT
                ? warn(
                        name,
                        "waiting for virtual time: " + found,
                        "begin it with 'lendstream load', or set time=wall if this is no accelerated run")
                : this;
    }

    boolean isOk() {
        return level == Level.OK;
    }

    boolean isFailure() {
        return level == Level.FAIL;
    }

    String line() {
        return "%-4s %s".formatted(level.label, text());
    }

    /** The finding with its remedy, without its level. */
    String text() {
        return "%s: %s%s".formatted(name, found, wayOut.isEmpty() ? "" : "; " + wayOut);
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
