package io.lendstream.agent.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/** Reads Avro records from their own plain JSON, which, unlike Avro's JSON encoding, does not name union branches. */
final class PlainRecord {
    private PlainRecord() {}

    /**
     * Converts a JSON object to a record; a missing field has its default.
     *
     * @throws IllegalArgumentException if the object does not fit the schema; names the place
     */
    static GenericRecord of(Schema schema, JsonNode object) {
        return record(schema, object, schema.getName());
    }

    private static GenericRecord record(Schema schema, JsonNode object, String path) {
        need(object.isObject(), path, "an object", object);
        for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (schema.getField(name) == null) {
                throw new IllegalArgumentException("%s has no field %s".formatted(path, name));
            }
        }
        GenericData.Record record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) {
            JsonNode value = object.get(field.name());
            String place = path + "." + field.name();
            if (value != null) {
                record.put(field.pos(), value(field.schema(), value, place));
            } else if (field.hasDefaultValue()) {
                record.put(field.pos(), GenericData.get().getDefaultValue(field));
            } else {
                throw new IllegalArgumentException(place + " is missing");
            }
        }
        return record;
    }

    private static @Nullable Object value(Schema schema, JsonNode json, String path) {
        return switch (schema.getType()) {
            case RECORD -> record(schema, json, path);
            case ARRAY -> list(schema.getElementType(), json, path);
            case MAP -> map(schema.getValueType(), json, path);
            case UNION -> json.isNull() ? null : value(schema.getTypes().get(1), json, path);
            case ENUM -> {
                boolean isKnown = json.isTextual() && schema.hasEnumSymbol(json.asText());
                need(isKnown, path, "one of " + schema.getEnumSymbols(), json);
                yield new GenericData.EnumSymbol(schema, json.asText());
            }
            default -> scalar(schema, json, path);
        };
    }

    private static List<@Nullable Object> list(Schema element, JsonNode json, String path) {
        need(json.isArray(), path, "a list", json);
        List<@Nullable Object> list = new ArrayList<>();
        for (JsonNode each : json) {
            list.add(value(element, each, path + "[" + list.size() + "]"));
        }
        return list;
    }

    private static Map<String, @Nullable Object> map(Schema value, JsonNode json, String path) {
        need(json.isObject(), path, "an object", json);
        Map<String, @Nullable Object> map = new TreeMap<>();
        for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            map.put(name, value(value, json.path(name), path + "{" + name + "}"));
        }
        return map;
    }

    private static Object scalar(Schema schema, JsonNode json, String path) {
        return switch (schema.getType()) {
            case STRING -> {
                need(json.isTextual(), path, "a text", json);
                yield json.asText();
            }
            case BOOLEAN -> {
                need(json.isBoolean(), path, "true or false", json);
                yield json.asBoolean();
            }
            case INT -> {
                need(json.isInt(), path, "a whole number", json);
                yield json.asInt();
            }
            case LONG -> {
                need(json.isIntegralNumber() && json.canConvertToLong(), path, "a whole number", json);
                yield json.asLong();
            }
            case DOUBLE -> {
                need(json.isNumber(), path, "a number", json);
                yield json.asDouble();
            }
            default ->
                throw new IllegalArgumentException(
                        "%s has the type %s, which recordings do not support".formatted(path, schema.getType()));
        };
    }

    private static void need(boolean holds, String path, String wanted, JsonNode found) {
        if (!holds) {
            throw new IllegalArgumentException("%s must be %s, but is %s".formatted(path, wanted, found));
        }
    }
}
