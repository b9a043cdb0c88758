package io.lendstream.agent.kubernetes;

import io.lendstream.agent.rates.Endpoint;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.Optional;

/**
 * A pod whose server counts requests.
 *
 * @param uid unique to this pod
 * @param name its namespace and name, {@code NAMESPACE/NAME}
 * @param service service of all its requests; empty if the server reports several services
 * @param started last start of the counting container; empty if that container is unknown
 * @param running whether it can be read now
 */
public record PodTarget(
        String uid,
        String name,
        Endpoint endpoint,
        Optional<ServiceId> service,
        Optional<Instant> started,
        boolean running) {

    /** The source name in records: a pod keeps it when its address changes. */
    public String source(String node) {
        String path = Optional.ofNullable(endpoint.url().getRawPath()).orElse("");
        return "%s/%s:%d%s".formatted(node, name, endpoint.url().getPort(), path.equals("/metrics") ? "" : path);
    }
}
