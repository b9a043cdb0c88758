package io.lendstream.launcher.declare;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import io.lendstream.launcher.cli.UserError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads a file of declarations: YAML or JSON, with one or several documents. */
final class DeclarationFile {
    private static final YAMLFactory YAML = YAMLFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    /** YAML may begin like this too, but then it is JSON as well, except that JSON allows tabs. */
    private static final Pattern START_OF_JSON = Pattern.compile("\\s*\\{\\s*[\"}]");

    static final String API_VERSION = "apiVersion";
    static final String KIND = "kind";
    static final String METADATA = "metadata";
    static final String SPEC = "spec";

    /** What {@code get} adds and {@code apply} leaves out. */
    static final String STATUS = "status";

    /** The fields of an object. */
    static final List<String> FIELDS = List.of(API_VERSION, KIND, METADATA, SPEC);

    private static final String LIST = "List";

    private final String file;
    private final JsonParser parser;
    private final String language;

    /**
     * A document of a file.
     *
     * @param number from 1
     */
    record Document(String file, int number, SourceValue.Fields root) {
        /** The place of its root. */
        ValuePlace place() {
            return new ValuePlace(file, number, "", "", root.line(), "Change it.");
        }
    }

    private DeclarationFile(String file, JsonParser parser, String language) {
        this.file = file;
        this.parser = parser;
        this.language = language;
    }

    /**
     * The documents of a file. The items of a {@code kind: List} are documents of their own; empty documents are left
     * out.
     *
     * @param file its name; one that ends with {@code .json} is read as JSON
     * @param problems receives an error for each document that is no object
     */
    static List<Document> read(String file, String text, ProblemList problems) {
        boolean isYaml = file.endsWith(".yaml") || file.endsWith(".yml");
        boolean isJson = file.endsWith(".json")
                || (!isYaml && START_OF_JSON.matcher(text).lookingAt());
        String language = isJson ? "JSON" : "YAML";
        try (JsonParser parser = isJson ? JSON.createParser(text) : YAML.createParser(text)) {
            return new DeclarationFile(file, parser, language).documents(problems);
        } catch (JsonProcessingException e) {
            int line = Optional.ofNullable(e.getLocation())
                    .map(location -> location.getLineNr())
                    .orElse(1);
            throw UserError.badUsage("%s, line %d is not %s: %s. Correct it."
                    .formatted(
                            file,
                            line,
                            language,
                            String.valueOf(e.getOriginalMessage())
                                    .lines()
                                    .findFirst()
                                    .orElse("")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Document> documents(ProblemList problems) throws IOException {
        List<Document> documents = new ArrayList<>();
        int number = 0;
        while (parser.nextToken() != null) {
            number++;
            if (isEmpty()) {
                continue;
            }
            SourceValue root = value(line());
            int document = number;
            problems.check(() -> add(documents, document, fields(root, document), problems));
        }
        return documents;
    }

    private SourceValue.Fields fields(SourceValue root, int number) {
        if (root instanceof SourceValue.Fields fields) {
            return fields;
        }
        throw UserError.badUsage("%s, line %d, document %d is %s, but must have the fields %s. Add them."
                .formatted(file, root.line(), number, root.shown(), String.join(", ", FIELDS)));
    }

    private void add(List<Document> documents, int number, SourceValue.Fields root, ProblemList problems) {
        boolean isList = root.values().get(KIND) instanceof SourceValue.Scalar kind
                && kind.text().equals(LIST);
        if (!isList) {
            documents.add(new Document(file, number, root));
        } else if (root.values().get("items") instanceof SourceValue.Items items) {
            items.values().forEach(item -> problems.check(() -> documents.add(item(item, number))));
        } else {
            throw UserError.badUsage("%s, line %d, document %d: kind is List, but there is no list items. Add it."
                    .formatted(file, root.line(), number));
        }
    }

    private Document item(SourceValue item, int number) {
        if (item instanceof SourceValue.Fields fields) {
            return new Document(file, number, fields);
        }
        throw UserError.badUsage("%s, line %d, document %d: an item is %s, but must be an object. Change it."
                .formatted(file, item.line(), number, item.shown()));
    }

    private boolean isEmpty() throws IOException {
        JsonToken token = parser.currentToken();
        return token == JsonToken.VALUE_NULL
                || (token == JsonToken.VALUE_STRING && parser.getText().isBlank());
    }

    private SourceValue value(int line) throws IOException {
        if (parser instanceof YAMLParser yaml && yaml.isCurrentAlias()) {
            throw UserError.badUsage("%s, line %d has the alias '*%s', but aliases are not read. Write the value."
                    .formatted(file, line, parser.getText()));
        }
        JsonToken token = parser.currentToken();
        if (token == JsonToken.START_OBJECT) {
            return fields(line);
        }
        if (token == JsonToken.START_ARRAY) {
            List<SourceValue> items = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                items.add(value(line()));
            }
            return new SourceValue.Items(items, line);
        }
        if (token == null || !token.isScalarValue()) {
            throw UserError.badUsage("%s, line %d is not complete %s. Correct it.".formatted(file, line, language));
        }
        return new SourceValue.Scalar(parser.getText(), line);
    }

    /** The fields of an object; as in Kubernetes, a field that is null is left out. */
    private SourceValue.Fields fields(int line) throws IOException {
        Map<String, SourceValue> fields = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            int lineOfName = line();
            if (parser.nextToken() != JsonToken.VALUE_NULL) {
                fields.put(name, value(lineOfName));
            }
        }
        return new SourceValue.Fields(fields, line);
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }
}
