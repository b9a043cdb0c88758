package io.lendstream.agent.kubernetes;

import io.lendstream.agent.rates.Endpoint;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.Optional;

/**
 * A pod whose server counts requests.
 *
 * @param uid never another pod's
 * @param name its namespace and name, {@code NAMESPACE/NAME}
 * @param service whose requests all of them are; empty where the server tells services apart
 * @param started when the container that counts was started last; empty where it is not known which one that is
 * @param running whether there is something to read now
 */
public record PodTarget(
        String uid,
        String name,
        Endpoint endpoint,
        Optional<ServiceId> service,
        Optional<Instant> started,
        boolean running) {

    /** What records name as their source: a pod keeps it when its address changes. */
    public String source(String node) {
        String path = Optional.ofNullable(endpoint.url().getRawPath()).orElse("");
        return "%s/%s:%d%s".formatted(node, name, endpoint.url().getPort(), path.equals("/metrics") ? "" : path);
    }
}
