package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Checks values by the part of JSON Schema that our schemas use. A keyword that it does not know is an error. */
final class JsonSchemaCheck {
    private static final Set<String> OF_PEOPLE = Set.of("$schema", "title", "description", "default", "format");

    private final List<String> problems = new ArrayList<>();

    private JsonSchemaCheck() {}

    /** What is wrong about a value, with paths. */
    static List<String> problems(JsonNode schema, JsonNode value) {
        JsonSchemaCheck check = new JsonSchemaCheck();
        check.check("", schema, value);
        return check.problems;
    }

    private void check(String path, JsonNode schema, JsonNode value) {
        schema.properties().forEach(keyword -> {
            boolean isFine = switch (keyword.getKey()) {
                case "type" -> isOf(keyword.getValue().asText(), value);
                case "const" -> keyword.getValue().equals(value);
                case "enum" -> contains(keyword.getValue(), value);
                case "minimum" -> value.asDouble() >= keyword.getValue().asDouble();
                case "maximum" -> value.asDouble() <= keyword.getValue().asDouble();
                case "minLength" ->
                    value.asText().length() >= keyword.getValue().asInt();
                case "maxLength" ->
                    value.asText().length() <= keyword.getValue().asInt();
                case "pattern" ->
                    Pattern.compile(keyword.getValue().asText())
                            .matcher(value.asText())
                            .find();
                case "required" -> hasAll(keyword.getValue(), value);
                case "oneOf" -> matchesOne(keyword.getValue(), value);
                case "items" -> items(path, keyword.getValue(), value);
                case "properties" -> properties(path, keyword.getValue(), value);
                case "additionalProperties" -> others(path, schema, keyword.getValue(), value);
                default -> OF_PEOPLE.contains(keyword.getKey());
            };
            if (!isFine) {
                problems.add("%s: %s %s".formatted(path, keyword.getKey(), keyword.getValue()));
            }
        });
    }

    private static boolean isOf(String type, JsonNode value) {
        return switch (type) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isTextual();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            default -> false;
        };
    }

    private static boolean contains(JsonNode all, JsonNode value) {
        for (JsonNode each : all) {
            if (each.equals(value)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasAll(JsonNode names, JsonNode value) {
        for (JsonNode name : names) {
            if (!value.has(name.asText())) {
                return false;
            }
        }
        return true;
    }

    private static boolean matchesOne(JsonNode schemas, JsonNode value) {
        int matches = 0;
        for (JsonNode each : schemas) {
            matches += problems(each, value).isEmpty() ? 1 : 0;
        }
        return matches == 1;
    }

    private boolean items(String path, JsonNode schema, JsonNode values) {
        for (int i = 0; i < values.size(); i++) {
            check(path + "[" + i + "]", schema, values.get(i));
        }
        return true;
    }

    private boolean properties(String path, JsonNode schemas, JsonNode value) {
        schemas.properties().forEach(property -> {
            if (value.has(property.getKey())) {
                check(path + "." + property.getKey(), property.getValue(), value.get(property.getKey()));
            }
        });
        return true;
    }

    private boolean others(String path, JsonNode schema, JsonNode ofOthers, JsonNode value) {
        boolean[] isFine = {true};
        value.fieldNames().forEachRemaining(name -> {
            if (schema.path("properties").has(name)) {
                return;
            }
            if (ofOthers.isObject()) {
                check(path + "." + name, ofOthers, value.get(name));
            } else {
                isFine[0] &= ofOthers.asBoolean();
            }
        });
        return isFine[0];
    }
}
