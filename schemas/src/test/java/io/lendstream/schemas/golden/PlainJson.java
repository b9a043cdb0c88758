package io.lendstream.schemas.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.DecisionId;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.generic.IndexedRecord;

/**
 * Avro records as the JSON a person would write: no defaults, no nulls, times as text, a decision's id as {@code
 * domain/epoch/sequence}, and one of several cases as an object with the case's name. A field {@code domain} or
 * {@code at} that says the same as its surroundings is left out.
 */
final class PlainJson {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final GenericData DATA = new GenericData();
    private static final List<String> INHERITED = List.of("domain", "at");

    private PlainJson() {}

    /**
     * Writes a record.
     *
     * @param around what the surroundings say already, by field
     */
    static ObjectNode write(IndexedRecord record, Map<String, JsonNode> around) {
        return (ObjectNode) write(record.getSchema(), record, around);
    }

    /**
     * Reads a record.
     *
     * @param around what stands for fields that are left out
     * @throws IllegalArgumentException where the JSON does not fit the schema, naming the place
     */
    static GenericRecord read(Schema schema, JsonNode json, Map<String, JsonNode> around) {
        return (GenericRecord) read(schema, json, around, schema.getName());
    }

    private static JsonNode write(Schema schema, Object value, Map<String, JsonNode> around) {
        return switch (schema.getType()) {
            case RECORD -> writeRecord((IndexedRecord) value, around);
            case UNION -> write(schema.getTypes().get(DATA.resolveUnion(schema, value)), value, around);
            case ARRAY -> {
                ArrayNode array = JSON.arrayNode();
                ((Iterable<?>) value).forEach(item -> array.add(write(schema.getElementType(), item, around)));
                yield array;
            }
            case MAP -> {
                ObjectNode object = JSON.objectNode();
                Map<String, Object> sorted = new TreeMap<>();
                ((Map<?, ?>) value).forEach((key, item) -> sorted.put(key.toString(), item));
                sorted.forEach((key, item) -> object.set(key, write(schema.getValueType(), item, around)));
                yield object;
            }
            case LONG ->
                isTime(schema)
                        ? JSON.textNode(Instant.ofEpochMilli(((Number) value).longValue())
                                .toString())
                        : JSON.numberNode(((Number) value).longValue());
            case INT -> JSON.numberNode(((Number) value).intValue());
            case FLOAT, DOUBLE -> JSON.numberNode(((Number) value).doubleValue());
            case BOOLEAN -> JSON.booleanNode((Boolean) value);
            case STRING, ENUM -> JSON.textNode(value.toString());
            case BYTES -> {
                ByteBuffer bytes = ((ByteBuffer) value).duplicate();
                byte[] all = new byte[bytes.remaining()];
                bytes.get(all);
                yield JSON.binaryNode(all);
            }
            default -> throw new IllegalArgumentException("no record of ours has a field of type " + schema.getType());
        };
    }

    private static JsonNode writeRecord(IndexedRecord record, Map<String, JsonNode> around) {
        Schema schema = record.getSchema();
        if (isDecisionId(schema)) {
            return JSON.textNode(
                    "%s/%s/%s".formatted(get(record, "domain"), get(record, "epoch"), get(record, "sequence")));
        }
        ObjectNode object = JSON.objectNode();
        if (isChoice(schema)) {
            for (Schema.Field field : schema.getFields()) {
                if (field.pos() > 0 && record.get(field.pos()) != null) {
                    object.set(field.name(), write(field.schema(), record.get(field.pos()), around));
                    return object;
                }
            }
        }
        if (schema.getFields().size() == 1) {
            return write(schema.getFields().get(0).schema(), record.get(0), around);
        }
        Map<String, JsonNode> inside = new TreeMap<>(around);
        for (Schema.Field field : schema.getFields()) {
            Object value = record.get(field.pos());
            if (isDefault(field, value)) {
                continue;
            }
            JsonNode written = write(field.schema(), value, inside);
            boolean said = written.equals(around.get(field.name()));
            if (INHERITED.contains(field.name())) {
                inside.put(field.name(), written);
            }
            boolean isThere =
                    field.schema().getType() == Schema.Type.UNION || !written.isObject() || !written.isEmpty();
            if (!said && isThere) {
                object.set(field.name(), written);
            }
        }
        return object;
    }

    private static Object read(Schema schema, JsonNode json, Map<String, JsonNode> around, String path) {
        return switch (schema.getType()) {
            case RECORD -> readRecord(schema, json, around, path);
            case UNION -> read(schema.getTypes().get(1), json, around, path);
            case ARRAY -> {
                require(json.isArray(), "a list", json, path);
                List<Object> items = new ArrayList<>();
                for (JsonNode item : json) {
                    items.add(read(schema.getElementType(), item, around, path + "[" + items.size() + "]"));
                }
                yield items;
            }
            case MAP -> {
                require(json.isObject(), "an object", json, path);
                Map<String, Object> items = new TreeMap<>();
                json.properties()
                        .forEach(entry -> items.put(
                                entry.getKey(),
                                read(schema.getValueType(), entry.getValue(), around, path + "." + entry.getKey())));
                yield items;
            }
            case LONG -> {
                if (isTime(schema)) {
                    require(json.isTextual(), "a time such as 2026-01-01T08:00:00Z", json, path);
                    yield Instant.parse(json.asText()).toEpochMilli();
                }
                require(json.isIntegralNumber(), "a whole number", json, path);
                yield json.asLong();
            }
            case INT -> {
                require(json.isInt(), "a whole number", json, path);
                yield json.asInt();
            }
            case DOUBLE -> {
                require(json.isNumber(), "a number", json, path);
                yield json.asDouble();
            }
            case BOOLEAN -> {
                require(json.isBoolean(), "true or false", json, path);
                yield json.asBoolean();
            }
            case STRING -> {
                require(json.isTextual(), "a text", json, path);
                yield json.asText();
            }
            case BYTES -> {
                require(json.isTextual() || json.isBinary(), "bytes in base64", json, path);
                yield ByteBuffer.wrap(Base64.getDecoder().decode(json.asText()));
            }
            case ENUM -> {
                require(
                        json.isTextual() && schema.hasEnumSymbol(json.asText()),
                        "one of " + schema.getEnumSymbols(),
                        json,
                        path);
                yield new GenericData.EnumSymbol(schema, json.asText());
            }
            default -> throw new IllegalArgumentException("no record of ours has a field of type " + schema.getType());
        };
    }

    private static GenericRecord readRecord(Schema schema, JsonNode json, Map<String, JsonNode> around, String path) {
        if (isDecisionId(schema)) {
            require(json.isTextual(), "a decision's id such as east/1/3", json, path);
            DecisionId id = DecisionId.parse(json.asText());
            return new GenericRecordBuilder(schema)
                    .set("domain", id.domain().value())
                    .set("epoch", id.epoch())
                    .set("sequence", id.sequence())
                    .build();
        }
        GenericRecord record = new GenericData.Record(schema);
        if (isChoice(schema) && json.size() == 1 && !json.has("kind")) {
            Schema kinds = schema.getField("kind").schema();
            String name = json.fieldNames().next();
            record.put("kind", new GenericData.EnumSymbol(kinds, kind(name)));
            Schema.Field field = schema.getField(name);
            require(
                    field != null && kinds.hasEnumSymbol(kind(name)),
                    "one of the kinds " + kinds.getEnumSymbols(),
                    json,
                    path);
            record.put(name, read(field.schema(), json.get(name), around, path + "." + name));
            return record;
        }
        Schema.Field first = schema.getFields().get(0);
        boolean isOnlyMap =
                schema.getFields().size() == 1 && first.schema().getType() == Schema.Type.MAP && json.isObject();
        boolean bare = isOnlyMap || (!json.isObject() && !json.isMissingNode());
        if (!isOnlyMap) {
            requireKnownFields(schema, json, path);
        }
        Map<String, JsonNode> inside = new TreeMap<>(around);
        for (Schema.Field field : schema.getFields()) {
            String name = field.name();
            JsonNode given = bare && field.equals(first) ? json : json.path(name);
            if (given.isMissingNode() && INHERITED.contains(name) && around.containsKey(name)) {
                given = around.get(name);
            }
            if (INHERITED.contains(name) && !given.isMissingNode()) {
                inside.put(name, given);
            }
            record.put(
                    name,
                    given.isMissingNode()
                            ? absent(field, inside, path)
                            : read(field.schema(), given, inside, path + "." + name));
        }
        return record;
    }

    private static @org.jspecify.annotations.Nullable Object absent(
            Schema.Field field, Map<String, JsonNode> around, String path) {
        if (field.hasDefaultValue()) {
            return DATA.getDefaultValue(field);
        }
        if (field.schema().getType() == Schema.Type.RECORD) {
            return read(field.schema(), MissingNode.getInstance(), around, path + "." + field.name());
        }
        throw new IllegalArgumentException("%s needs a field %s".formatted(path, field.name()));
    }

    private static void requireKnownFields(Schema schema, JsonNode json, String path) {
        TreeSet<String> unknown = new TreeSet<>();
        for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (schema.getField(name) == null) {
                unknown.add(name);
            }
        }
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("%s has no field %s; it has %s"
                    .formatted(
                            path,
                            unknown,
                            schema.getFields().stream().map(Schema.Field::name).toList()));
        }
    }

    private static void require(boolean fits, String wanted, JsonNode json, String path) {
        if (!fits) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(path, wanted, json));
        }
    }

    private static boolean isDefault(Schema.Field field, @org.jspecify.annotations.Nullable Object value) {
        if (value == null) {
            return true;
        }
        if (!field.hasDefaultValue()) {
            return false;
        }
        Object otherwise = DATA.getDefaultValue(field);
        return otherwise != null && otherwise.toString().equals(value.toString());
    }

    /** One of several cases: an enum {@code kind}, and a field for the one there is. */
    private static boolean isChoice(Schema schema) {
        Schema.Field first = schema.getFields().get(0);
        return first.name().equals("kind")
                && first.schema().getType() == Schema.Type.ENUM
                && schema.getFields().size() > 1
                && schema.getFields().stream()
                        .skip(1)
                        .allMatch(field -> field.schema().getType() == Schema.Type.UNION);
    }

    private static String kind(String field) {
        return field.replaceAll("([A-Z])", "_$1").toUpperCase(java.util.Locale.ROOT);
    }

    private static boolean isDecisionId(Schema schema) {
        return schema.getName().equals(DecisionId.class.getSimpleName());
    }

    private static boolean isTime(Schema schema) {
        return schema.getLogicalType() != null;
    }

    private static Object get(IndexedRecord record, String field) {
        return record.get(record.getSchema().getField(field).pos());
    }
}
