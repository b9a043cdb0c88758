package io.lendstream.schemas.topics;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** JSON as YAML in blocks; every text is quoted, so that none is taken for anything else. */
final class Yaml {
    private final StringBuilder out = new StringBuilder();

    static String of(JsonNode json) {
        Yaml yaml = new Yaml();
        yaml.block(json, 0);
        return yaml.out.toString();
    }

    private void block(JsonNode json, int depth) {
        if (json.isArray()) {
            for (JsonNode item : json) {
                indent(depth);
                out.append('-');
                int start = out.length();
                value(item, depth);
                if (isBlock(item)) {
                    // The item's first line stands behind its dash.
                    out.replace(start, start + 1 + 2 * (depth + 1), " ");
                }
            }
            return;
        }
        for (Map.Entry<String, JsonNode> field : json.properties()) {
            indent(depth);
            out.append(field.getKey().matches("[A-Za-z$_][A-Za-z0-9$_.-]*") ? field.getKey() : quoted(field.getKey()));
            out.append(':');
            value(field.getValue(), depth);
        }
    }

    private void value(JsonNode json, int depth) {
        if (isBlock(json)) {
            out.append('\n');
            block(json, depth + 1);
        } else {
            out.append(' ').append(json).append('\n');
        }
    }

    /** Whether it takes lines of its own; lists of plain values stand on one line. */
    private static boolean isBlock(JsonNode json) {
        if (json.isArray()) {
            for (JsonNode item : json) {
                if (item.isContainerNode()) {
                    return true;
                }
            }
            return false;
        }
        return json.isObject() && !json.isEmpty();
    }

    private void indent(int depth) {
        out.append("  ".repeat(depth));
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }
}
