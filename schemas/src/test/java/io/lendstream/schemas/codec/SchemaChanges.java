package io.lendstream.schemas.codec;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.avro.Schema;

/** The changes that a later version may make to a schema. */
final class SchemaChanges {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SchemaChanges() {}

    /** A field with a default, at the front, where it moves every other field. */
    static Schema withField(Schema schema) {
        ObjectNode json = json(schema);
        addField((ArrayNode) json.path("fields"));
        return parsed(json);
    }

    /** Without fields: as it was before they came. Types that they define stay defined. */
    static Schema without(Schema schema, String... gone) {
        List<Schema.Field> fields = schema.getFields().stream()
                .filter(field -> !List.of(gone).contains(field.name()))
                .map(field -> new Schema.Field(field, field.schema()))
                .toList();
        return Schema.createRecord(schema.getName(), schema.getDoc(), schema.getNamespace(), schema.isError(), fields);
    }

    /** Without fields of the record in a field. */
    static Schema withoutWithin(Schema schema, String record, String... gone) {
        ObjectNode json = json(schema);
        for (JsonNode field : json.path("fields")) {
            if (field.path("name").asText().equals(record)) {
                ArrayNode inner = (ArrayNode) field.path("type").path("fields");
                for (int i = inner.size() - 1; i >= 0; i--) {
                    if (List.of(gone).contains(inner.get(i).path("name").asText())) {
                        inner.remove(i);
                    }
                }
            }
        }
        return parsed(json);
    }

    /** The same in every record within, a symbol more in every enum, and so a kind more in every union of cases. */
    static Schema withEverythingGrown(Schema schema) {
        ObjectNode json = json(schema);
        grow(json);
        return parsed(json);
    }

    private static void grow(JsonNode node) {
        if (node.isObject() && node.path("type").asText().equals("enum")) {
            ((ArrayNode) node.path("symbols")).add("ADDED_LATER");
        }
        if (node.isObject() && node.path("type").asText().equals("record")) {
            for (JsonNode field : node.path("fields")) {
                grow(field.path("type"));
            }
            addField((ArrayNode) node.path("fields"));
            return;
        }
        node.forEach(SchemaChanges::grow);
    }

    private static void addField(ArrayNode fields) {
        ObjectNode field = JSON.createObjectNode().put("name", "addedLater").put("default", "");
        field.put("type", "string");
        fields.insert(0, field);
    }

    private static ObjectNode json(Schema schema) {
        try {
            return (ObjectNode) JSON.readTree(schema.toString());
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Schema parsed(ObjectNode json) {
        return new Schema.Parser().parse(json.toString());
    }
}
