package io.lendstream.schemas.topics;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;

/**
 * The Avro schemas that this version reads and writes, from the {@code .avsc} files on the class path. Each named
 * type has one file, in namespace {@value #NAMESPACE}; types refer to each other by name.
 */
public final class WireSchemas {
    public static final String NAMESPACE = "io.lendstream";

    private static final String FOLDER = "/io/lendstream/avro/";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ConcurrentHashMap<String, Schema> PARSED = new ConcurrentHashMap<>();

    private WireSchemas() {}

    /**
     * The schema of a record with all its references; the same instance on every call.
     *
     * @param recordName its name without the namespace, such as {@code Decision}
     */
    public static Schema of(String recordName) {
        Schema known = PARSED.get(recordName);
        if (known != null) {
            return known;
        }
        Schema.Parser parser = new Schema.Parser();
        parse(recordName, parser);
        Schema schema = Objects.requireNonNull(parser.getTypes().get(NAMESPACE + "." + recordName));
        Schema before = PARSED.putIfAbsent(recordName, schema);
        return before == null ? schema : before;
    }

    private static void parse(String name, Schema.Parser parser) {
        String text = read(name);
        try {
            parseReferences(JSON.readTree(text), parser);
            parser.parse(text);
        } catch (IOException e) {
            throw new UncheckedIOException(name + ".avsc is not JSON: " + e.getMessage(), e);
        }
    }

    /** Parses the files of referenced types first. */
    private static void parseReferences(JsonNode type, Schema.Parser parser) {
        if (type.isTextual()) {
            String name = type.asText().substring(type.asText().lastIndexOf('.') + 1);
            if (!isPrimitive(name) && !parser.getTypes().containsKey(NAMESPACE + "." + name)) {
                parse(name, parser);
            }
            return;
        }
        if (type.isArray()) {
            type.forEach(branch -> parseReferences(branch, parser));
            return;
        }
        switch (type.path("type").asText()) {
            case "record" -> type.path("fields").forEach(field -> parseReferences(field.path("type"), parser));
            case "array" -> parseReferences(type.path("items"), parser);
            case "map" -> parseReferences(type.path("values"), parser);
            default -> {
                // An enum, or a primitive with a logical type, which refers to no other type.
            }
        }
    }

    private static boolean isPrimitive(String name) {
        return switch (name) {
            case "null", "boolean", "int", "long", "float", "double", "bytes", "string" -> true;
            default -> false;
        };
    }

    private static String read(String name) {
        String path = FOLDER + name + ".avsc";
        try (InputStream in = WireSchemas.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalArgumentException(
                        "there is no schema %s on the class path; see schemas/src/main/avro".formatted(path));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path, e);
        }
    }
}
