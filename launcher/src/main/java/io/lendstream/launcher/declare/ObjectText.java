package io.lendstream.launcher.declare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.util.ArrayList;
import java.util.List;

/** Objects in the form that files have. */
final class ObjectText {
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
            .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
            .disable(YAMLGenerator.Feature.SPLIT_LINES)
            .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
            .build();

    private ObjectText() {}

    /** A document of YAML for each object. */
    static List<String> yaml(List<ObjectNode> objects) {
        List<String> lines = new ArrayList<>();
        for (ObjectNode object : objects) {
            if (!lines.isEmpty()) {
                lines.add("---");
            }
            lines.addAll(yaml(object));
        }
        return lines;
    }

    /** Lines of YAML. */
    static List<String> yaml(JsonNode value) {
        try {
            return YAML.writeValueAsString(value).lines().toList();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree can always be written", e);
        }
    }

    /** A list as a file may have it. */
    static ObjectNode list(List<ObjectNode> objects) {
        ObjectNode list = JsonNodeFactory.instance
                .objectNode()
                .put("apiVersion", DeclaredKind.API_VERSION)
                .put("kind", "List");
        ArrayNode items = list.putArray("items");
        objects.forEach(items::add);
        return list;
    }
}
