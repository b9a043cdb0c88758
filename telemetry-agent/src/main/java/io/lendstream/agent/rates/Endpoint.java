package io.lendstream.agent.rates;

import io.lendstream.core.id.KindId;
import java.net.URI;
import java.util.Locale;
import java.util.Optional;

/**
 * The address of a server's metrics, as settings write it. The form is {@code PRESET@URL}, with {@code ;stats=URL}
 * for Triton's statistics, {@code ;profile=3g.40gb} for the server's MIG instance, {@code ;kind=L4-24GB} for its kind
 * of GPU, and {@code ;node=NAME} for the only node whose agent reads it.
 *
 * @param stats Triton's {@code /v2/models/stats}; empty if batches are not read
 * @param on what the server runs on
 * @param reader the node whose agent reads it; empty for every agent with this setting
 */
public record Endpoint(Preset preset, URI url, Optional<URI> stats, ServedOn on, Optional<String> reader) {
    /**
     * Parses an endpoint.
     *
     * @throws IllegalArgumentException if the text is invalid; the message describes the format
     */
    public static Endpoint parse(String text, EndpointPresets presets) {
        String[] parts = text.strip().split(";", -1);
        int at = parts[0].indexOf('@');
        if (at < 1) {
            throw new IllegalArgumentException(
                    "agent.rate-endpoints has '%s', but must have PRESET@URL, such as vllm@http://localhost:8000/metrics."
                            .formatted(text));
        }
        Optional<URI> stats = Optional.empty();
        ServedOn on = ServedOn.WHOLE;
        Optional<String> reader = Optional.empty();
        for (int i = 1; i < parts.length; i++) {
            String part = parts[i].strip();
            if (part.startsWith("stats=")) {
                stats = Optional.of(url(part.substring("stats=".length())));
            } else if (part.startsWith("profile=")) {
                on = new ServedOn(Optional.of(part.substring("profile=".length())), on.kind());
            } else if (part.startsWith("kind=")) {
                on = new ServedOn(on.profile(), Optional.of(new KindId(part.substring("kind=".length()))));
            } else if (part.startsWith("node=")) {
                reader = Optional.of(part.substring("node=".length()));
            } else {
                throw new IllegalArgumentException(
                        "agent.rate-endpoints has '%s' after a URL, but only stats=URL, profile=NAME, kind=NAME and node=NAME are allowed there."
                                .formatted(part));
            }
        }
        return new Endpoint(
                presets.named(parts[0].substring(0, at).strip()), url(parts[0].substring(at + 1)), stats, on, reader);
    }

    private static URI url(String text) {
        try {
            URI url = new URI(text.strip());
            String scheme = Optional.ofNullable(url.getScheme()).orElse("").toLowerCase(Locale.ROOT);
            if ((scheme.equals("http") || scheme.equals("https")) && url.getHost() != null) {
                return url;
            }
        } catch (java.net.URISyntaxException e) {
            throw new IllegalArgumentException(notAnAddress(text), e);
        }
        throw new IllegalArgumentException(notAnAddress(text));
    }

    private static String notAnAddress(String text) {
        return "agent.rate-endpoints has the address '%s', but must have a URL such as http://localhost:8000/metrics."
                .formatted(text);
    }

    /** The source name in records, which distinguishes the endpoints of a node. */
    public String source(String node) {
        String path = Optional.ofNullable(url.getRawPath()).orElse("");
        return "%s/%s%s%s"
                .formatted(
                        node,
                        url.getHost(),
                        url.getPort() < 0 ? "" : ":" + url.getPort(),
                        path.isEmpty() || path.equals("/metrics") ? "" : path);
    }
}
