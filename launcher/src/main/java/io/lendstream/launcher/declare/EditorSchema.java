package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Event;
import java.util.Locale;
import java.util.regex.Pattern;

/** JSON Schemas of objects, with which editors complete and check files. */
final class EditorSchema {
    private static final String DRAFT = "http://json-schema.org/draft-07/schema#";

    /** The beginning of a further word in a name such as {@code TrainingJob}. */
    private static final Pattern WORD = Pattern.compile("(?<=[a-z])[A-Z]");

    private EditorSchema() {}

    /** The name of the file with the schema of a kind. */
    static String file(DeclaredKind<?> kind) {
        return WORD.matcher(kind.name()).replaceAll("-$0").toLowerCase(Locale.ROOT) + ".json";
    }

    /** The schema of files with objects of one kind. */
    static ObjectNode of(DeclaredKind<?> kind) {
        ObjectNode schema = JsonNodeFactory.instance.objectNode().put("$schema", DRAFT);
        schema.setAll(object(kind));
        return schema;
    }

    /** The schema of files with objects of all kinds, beside the schemas of these. */
    static ObjectNode ofAll() {
        ObjectNode schema = JsonNodeFactory.instance
                .objectNode()
                .put("$schema", DRAFT)
                .put("title", "Declaration")
                .put("description", "An object that `lendstream apply` declares.")
                .put("type", "object");
        ArrayNode kinds = schema.putArray("oneOf");
        DeclaredKinds.ALL.forEach(kind -> kinds.addObject().put("$ref", file(kind)));
        return schema;
    }

    private static <T extends Event> ObjectNode object(DeclaredKind<T> kind) {
        ObjectNode schema = JsonNodeFactory.instance
                .objectNode()
                .put("title", kind.name())
                .put("description", kind.doc())
                .put("type", "object")
                .put("additionalProperties", false);
        ObjectNode properties = schema.putObject("properties");
        properties.putObject("apiVersion").put("const", DeclaredKind.API_VERSION);
        properties.putObject("kind").put("const", kind.name());
        properties.set("metadata", ObjectReader.METADATA_FIELDS.schema());
        properties.set("spec", kind.spec().schema());
        properties
                .putObject(DeclarationFile.STATUS)
                .put("type", "object")
                .put("description", "The state that `lendstream get` shows; `lendstream apply` leaves it out.");
        ArrayNode required = schema.putArray("required");
        DeclarationFile.FIELDS.forEach(required::add);
        return schema;
    }
}
