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
 * Which domain each node is in, apart for the base topic and for each intake: a record of an intake moves and removes only
 * nodes that the same intake has declared. Two intakes may use one node ID for nodes of two domains.
 */
final class NodeDomains {
    /** Part of no node ID that the intake takes. */
    private static final String MARK = "\0";

    private final TopicCatalogue topics;
    private final KeyValueStore<String, String> store;
    private final DomainLimits limits;
    private final int mostDomains;
    /** How many nodes are noted, by domain, and within it by the start of their keys. */
    private final Map<String, Map<String, Integer>> counts = new HashMap<>();

    /** @param mostDomains of which nodes are noted */
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
     * Notes a declaration. What the domain will refuse is not noted: made-up names would be kept for ever.
     *
     * @param topic name in Kafka of the topic that it was found in
     * @return the domain that the node has left
     * @throws Poison where it would be one node or one domain too many
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

    /** What the keys of an intake's nodes begin with. */
    private static String start(String key) {
        return key.substring(0, key.lastIndexOf(MARK) + 1);
    }

    /**
     * Notes a tombstone.
     *
     * @return the domain that the node has left; empty where the topic never declared it, or another topic still does
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

    /** That of the base topic is the node ID alone, as before there were intakes. */
    private static String key(Optional<String> intake, String node) {
        return intake.map(name -> MARK + name + MARK + node).orElse(node);
    }
}
