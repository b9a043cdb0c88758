package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the domain of each node, separately for the base topic and for each intake. A record of an intake can
 * move and remove only nodes that the same intake declared. Two intakes may use one node ID for nodes of two domains.
 */
final class NodeDomains {
    /** A character that cannot occur in a valid node ID. */
    private static final String MARK = "\0";

    private final TopicCatalogue topics;
    private final KeyValueStore<String, String> store;
    private final DomainLimits limits;
    private final int mostDomains;
    /** Number of remembered nodes, by domain, and within it by key prefix. */
    private final Map<String, Map<String, Integer>> counts = new HashMap<>();

    /** @param mostDomains most domains whose nodes are remembered */
    NodeDomains(TopicCatalogue topics, KeyValueStore<String, String> store, DomainLimits limits, int mostDomains) {
        this.topics = topics;
        this.store = store;
        this.limits = limits;
        this.mostDomains = mostDomains;
        try (KeyValueIterator<String, String> all = store.all()) {
            all.forEachRemaining(noted -> count(noted.value, start(noted.key), 1));
        }
    }

    /**
     * Remembers a declaration. A declaration that the domain will refuse is not remembered, so that invented names do
     * not accumulate.
     *
     * @param topic Kafka name of the topic with the declaration
     * @return the domain that the node leaves
     * @throws Poison if the node or the domain exceeds a limit
     */
    Optional<DomainId> declare(String topic, NodeId node, DomainId domain) throws Poison {
        String key = key(topics.intakeOf(topic), node.value());
        String before = store.get(key);
        if (domain.value().equals(before)) {
            return Optional.empty();
        }
        Map<String, Integer> present = counts.get(domain.value());
        if (present == null && counts.size() >= mostDomains) {
            throw DomainLimits.overDomains(domain, counts.size(), mostDomains);
        }
        limits.checkNodes(present == null ? 0 : present.getOrDefault(start(key), 0), node, domain);
        store.put(key, domain.value());
        count(domain.value(), start(key), 1);
        if (before != null) {
            count(before, start(key), -1);
        }
        return left(node.value(), before);
    }

    private void count(String domain, String start, int change) {
        Map<String, Integer> ofDomain = counts.computeIfAbsent(domain, any -> new HashMap<>());
        if (ofDomain.merge(start, change, Integer::sum) == 0) {
            ofDomain.remove(start);
        }
        if (ofDomain.isEmpty()) {
            counts.remove(domain);
        }
    }

    /** The key prefix of an intake's nodes. */
    private static String start(String key) {
        return key.substring(0, key.lastIndexOf(MARK) + 1);
    }

    /**
     * Applies a tombstone.
     *
     * @return the domain that the node leaves; empty if this topic never declared the node, or another topic still
     *     does
     */
    Optional<DomainId> remove(String topic, String node) {
        String key = key(topics.intakeOf(topic), node);
        String before = store.delete(key);
        if (before != null) {
            count(before, start(key), -1);
        }
        return left(node, before);
    }

    private Optional<DomainId> left(String node, @Nullable String before) {
        return Optional.ofNullable(before)
                .filter(domain -> !isDeclared(node, domain))
                .map(DomainId::new);
    }

    private boolean isDeclared(String node, String domain) {
        return domain.equals(store.get(key(Optional.empty(), node)))
                || topics.intakes().names().stream()
                        .anyMatch(intake -> domain.equals(store.get(key(Optional.of(intake), node))));
    }

    /** The key in the base topic is the node ID alone, as in versions before intakes. */
    private static String key(Optional<String> intake, String node) {
        return intake.map(name -> MARK + name + MARK + node).orElse(node);
    }
}
