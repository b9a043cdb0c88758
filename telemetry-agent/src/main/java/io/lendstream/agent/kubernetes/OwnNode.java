package io.lendstream.agent.kubernetes;

import io.micrometer.core.instrument.MeterRegistry;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

/** The state of this agent's node from the API server. If one part is unavailable, its last known state remains. */
public final class OwnNode implements AutoCloseable {
    private static final Set<String> CHANGING = Set.of("pending", "rebooting");
    private static final String STATE = "nvidia.com/mig.config.state";
    private static final String WHOLE = "application/json";
    /** A node's status lists all of its images; its labels are in its metadata. */
    private static final String METADATA =
            "application/json;as=PartialObjectMetadata%s;g=meta.k8s.io;v=v1,application/json";

    private final ObjectWatch<PodTarget> pods;
    private final ObjectWatch<String> states;

    private OwnNode(ObjectWatch<PodTarget> pods, ObjectWatch<String> states) {
        this.pods = pods;
        this.states = states;
    }

    /**
     * Follows a node's pods and labels.
     *
     * @param node its Kubernetes name, {@code spec.nodeName} of its pods
     * @param reader selects the pods with counted requests
     */
    public static OwnNode follow(ApiServer server, String node, PodReader reader, MeterRegistry metrics) {
        return follow(server, node, reader, metrics, ObjectWatch.Pace.USUAL);
    }

    static OwnNode follow(
            ApiServer server, String node, PodReader reader, MeterRegistry metrics, ObjectWatch.Pace pace) {
        String name = URLEncoder.encode(node, StandardCharsets.UTF_8);
        return new OwnNode(
                new ObjectWatch<>(
                        server,
                        new ObjectWatch.Question(
                                "pods", "/api/v1/pods?fieldSelector=spec.nodeName%3D" + name, WHOLE, WHOLE, ""),
                        pace,
                        reader,
                        metrics),
                new ObjectWatch<>(
                        server,
                        new ObjectWatch.Question(
                                "nodes",
                                "/api/v1/nodes?fieldSelector=metadata.name%3D" + name,
                                METADATA.formatted("List"),
                                METADATA.formatted(""),
                                "the API server has no node %s. Set agent.node to the node's name in Kubernetes, which is spec.nodeName of the agent's pod."
                                        .formatted(node)),
                        pace,
                        object -> Optional.of(object.path("metadata")
                                .path("labels")
                                .path(STATE)
                                .asText("")),
                        metrics));
    }

    /** The known pods with counted requests. */
    public Collection<PodTarget> pods() {
        return pods.known();
    }

    /** Why the GPUs must be released: MIG is being changed; empty otherwise. */
    public Optional<String> migChange() {
        return states.known().stream()
                .filter(CHANGING::contains)
                .findFirst()
                .map(state -> "MIG is being changed: the node's label %s is %s".formatted(STATE, state));
    }

    /** Waits until both are known, up to a time limit for each. */
    public void awaitFirst(Duration patience) throws InterruptedException {
        pods.awaitFirst(patience);
        states.awaitFirst(patience);
    }

    @Override
    public void close() {
        pods.close();
        states.close();
    }
}
