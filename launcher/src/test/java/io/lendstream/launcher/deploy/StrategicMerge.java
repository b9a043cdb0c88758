package io.lendstream.launcher.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * A manifest with a patch laid over it, as kubectl and kustomize do: objects field by field, lists of containers, variables, volumes and
 * mounts element by element, other lists as a whole.
 *
 * @see <a href="https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/">Strategic merge</a>
 */
final class StrategicMerge {
    private static final Map<String, String> KEYS =
            Map.of("containers", "name", "env", "name", "volumes", "name", "volumeMounts", "mountPath");

    private StrategicMerge() {}

    static JsonNode of(JsonNode manifest, JsonNode patch) {
        ObjectNode merged = manifest.deepCopy();
        patch.properties().forEach(field -> {
            JsonNode there = merged.path(field.getKey());
            JsonNode value = field.getValue();
            if (there.isObject() && value.isObject()) {
                merged.set(field.getKey(), of(there, value));
            } else if (there.isArray() && KEYS.containsKey(field.getKey())) {
                merged.set(field.getKey(), list((ArrayNode) there, value, KEYS.get(field.getKey())));
            } else {
                merged.set(field.getKey(), value.deepCopy());
            }
        });
        return merged;
    }

    private static ArrayNode list(ArrayNode there, JsonNode patch, String key) {
        ArrayNode merged = there.deepCopy();
        for (JsonNode element : patch) {
            int at = -1;
            for (int i = 0; i < merged.size(); i++) {
                if (merged.get(i).path(key).equals(element.path(key))) {
                    at = i;
                }
            }
            if (at < 0) {
                merged.add(element.deepCopy());
            } else {
                merged.set(at, of(merged.get(at), element));
            }
        }
        return merged;
    }
}
