package io.lendstream.agent.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.agent.rates.Endpoint;
import io.lendstream.agent.rates.EndpointPresets;
import io.lendstream.agent.rates.Preset;
import io.lendstream.agent.rates.ServedOn;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads from a pod's annotations whether and how its requests are counted. Our annotations resemble those for
 * Prometheus, which supply port, path and scheme if ours do not.
 *
 * @param presets presets of servers
 * @param namespaces namespaces of counted pods; empty for all
 */
public record PodReader(EndpointPresets presets, Set<String> namespaces)
        implements Function<JsonNode, Optional<PodTarget>> {
    private static final String OURS = "lendstream.io/scrape-";
    private static final String PROMETHEUS = "prometheus.io/";
    private static final Set<String> KNOWN =
            new TreeSet<>(Set.of("preset", "service", "port", "path", "scheme", "stats", "profile", "kind"));
    private static final Set<String> OVER = Set.of("Succeeded", "Failed");
    private static final Pattern PORT_AND_PATH = Pattern.compile("(\\d{1,5})(/.*)");

    public PodReader {
        namespaces = Set.copyOf(namespaces);
    }

    /**
     * Returns the target of a pod, if its requests are counted.
     *
     * @throws IllegalArgumentException if its annotations are invalid; names the pod, the annotation and the way out
     */
    @Override
    public Optional<PodTarget> apply(JsonNode pod) {
        JsonNode metadata = pod.path("metadata");
        String namespace = metadata.path("namespace").asText("");
        String name = namespace + "/" + metadata.path("name").asText("");
        Map<String, String> annotations = annotations(metadata.path("annotations"));
        List<String> ours = annotations.keySet().stream()
                .filter(key -> key.startsWith(OURS))
                .toList();
        if (ours.isEmpty() || (!namespaces.isEmpty() && !namespaces.contains(namespace))) {
            return Optional.empty();
        }
        try {
            ours.forEach(PodReader::known);
            return target(pod, name, annotations);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("pod %s is not counted: %s".formatted(name, e.getMessage()), e);
        }
    }

    private static void known(String key) {
        need(
                KNOWN.contains(key.substring(OURS.length())),
                "it has the annotation %s, but there are only %s."
                        .formatted(key, KNOWN.stream().map(word -> OURS + word).collect(Collectors.joining(", "))));
    }

    private Optional<PodTarget> target(JsonNode pod, String name, Map<String, String> annotations) {
        String named = annotations.getOrDefault(OURS + "preset", "");
        need(
                !named.isBlank(),
                "it has annotations %s..., but not %spreset. Set it to the preset of its server, such as vllm."
                        .formatted(OURS, OURS));
        Preset preset = presets.named(named.strip());
        PodContainers containers = PodContainers.of(pod);
        int port = port(annotations, containers);
        Optional<ServiceId> service =
                Optional.ofNullable(annotations.get(OURS + "service")).map(ServiceId::new);
        String host = pod.path("status").path("podIP").asText("");
        if (host.isBlank() || OVER.contains(pod.path("status").path("phase").asText(""))) {
            return Optional.empty(); // not yet, or no longer
        }
        String scheme = said(annotations, "scheme").orElse("http");
        need(
                scheme.equals("http") || scheme.equals("https"),
                "the scheme is '%s', but must be http or https.".formatted(scheme));
        Optional<URI> stats =
                Optional.ofNullable(annotations.get(OURS + "stats")).map(text -> statistics(text, scheme, host));
        var endpoint = new Endpoint(
                preset,
                url(scheme, host, port, said(annotations, "path").orElse("/metrics")),
                stats,
                new ServedOn(
                        Optional.ofNullable(annotations.get(OURS + "profile")),
                        Optional.ofNullable(annotations.get(OURS + "kind")).map(KindId::new)),
                Optional.empty());
        return Optional.of(new PodTarget(
                pod.path("metadata").path("uid").asText(""),
                name,
                endpoint,
                service,
                containers.started(port),
                containers.isRunning(port)));
    }

    private static URI statistics(String text, String scheme, String host) {
        Matcher parts = PORT_AND_PATH.matcher(text.strip());
        need(
                parts.matches(),
                "%sstats is '%s', but must be a port and a path, such as 8000/v2/models/stats.".formatted(OURS, text));
        return url(scheme, host, Integer.parseInt(parts.group(1)), parts.group(2));
    }

    private static int port(Map<String, String> annotations, PodContainers containers) {
        Optional<String> said = said(annotations, "port");
        if (said.isEmpty()) {
            return containers
                    .onlyPort()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "it has neither %sport nor %sport, and not exactly one TCP port. Name the port of its metrics."
                                    .formatted(OURS, PROMETHEUS)));
        }
        boolean isPort = said.get().matches("\\d{1,5}")
                && Integer.parseInt(said.get()) > 0
                && Integer.parseInt(said.get()) <= 65_535;
        need(isPort, "the port is '%s', but must be a number from 1 to 65535.".formatted(said.get()));
        return Integer.parseInt(said.get());
    }

    /** The value of our annotation, or else of Prometheus'. */
    private static Optional<String> said(Map<String, String> annotations, String word) {
        return Optional.ofNullable(annotations.get(OURS + word))
                .or(() -> Optional.ofNullable(annotations.get(PROMETHEUS + word)))
                .map(String::strip)
                .filter(text -> !text.isEmpty());
    }

    private static URI url(String scheme, String host, int port, String path) {
        return URI.create("%s://%s:%d%s%s"
                .formatted(
                        scheme,
                        host.contains(":") ? "[" + host + "]" : host,
                        port,
                        path.startsWith("/") ? "" : "/",
                        path));
    }

    private static Map<String, String> annotations(JsonNode object) {
        var annotations = new TreeMap<String, String>();
        object.properties()
                .forEach(field ->
                        annotations.put(field.getKey(), field.getValue().asText("")));
        return annotations;
    }

    private static void need(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
