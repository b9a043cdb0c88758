package io.lendstream.launcher.deploy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** An object that Kubernetes is asked for. */
record Manifest(JsonNode root) {
    private static final Set<String> WITH_PODS = Set.of("StatefulSet", "DaemonSet", "Deployment", "Job");

    /** All manifests of a text, in order; a repeated key fails. */
    static List<Manifest> readAll(String yaml) throws IOException {
        var mapper = YAMLMapper.builder()
                .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
                .build();
        var all = new ArrayList<Manifest>();
        try (MappingIterator<JsonNode> documents =
                mapper.readerFor(JsonNode.class).readValues(yaml)) {
            while (documents.hasNext()) {
                JsonNode document = documents.next();
                if (!document.isNull() && !document.isMissingNode()) {
                    all.add(new Manifest(document));
                }
            }
        }
        return all;
    }

    String kind() {
        return root.at("/kind").asText();
    }

    String name() {
        return root.at("/metadata/name").asText();
    }

    boolean hasPods() {
        return WITH_PODS.contains(kind());
    }

    JsonNode template() {
        return root.at("/spec/template");
    }

    JsonNode pod() {
        return template().at("/spec");
    }

    /** Those that run, and before them those that prepare. */
    List<JsonNode> containers() {
        var containers = new ArrayList<JsonNode>();
        pod().path("initContainers").forEach(containers::add);
        pod().path("containers").forEach(containers::add);
        return containers;
    }

    JsonNode container() {
        return pod().at("/containers/0");
    }

    /** What a pod's volumes are, by name; those of claims too. */
    Map<String, JsonNode> volumes() {
        var volumes = new TreeMap<String, JsonNode>();
        pod().path("volumes").forEach(volume -> volumes.put(volume.get("name").asText(), volume));
        root.at("/spec/volumeClaimTemplates")
                .forEach(claim -> volumes.put(claim.at("/metadata/name").asText(), claim));
        return volumes;
    }

    /** The file of the ConfigMap that its containers read. */
    String settingsKey() {
        return pod().findPath("configMap").at("/items/0/key").asText();
    }

    /** A container's variables; {@code from} stands for those whose value comes from elsewhere. */
    static Map<String, String> environment(JsonNode container, String from) {
        var environment = new TreeMap<String, String>();
        container
                .path("env")
                .forEach(variable -> environment.put(
                        variable.get("name").asText(), variable.path("value").asText(from)));
        return environment;
    }

    static List<String> arguments(JsonNode container) {
        var arguments = new ArrayList<String>();
        container.path("args").forEach(argument -> arguments.add(argument.asText()));
        return arguments;
    }
}
