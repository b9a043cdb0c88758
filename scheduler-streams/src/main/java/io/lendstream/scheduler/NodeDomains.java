package io.lendstream.scheduler;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Optional;
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

    NodeDomains(TopicCatalogue topics, KeyValueStore<String, String> store) {
        this.topics = topics;
        this.store = store;
    }

    /**
     * Notes a declaration.
     *
     * @param topic name in Kafka of the topic that it was found in
     * @return the domain that the node has left
     */
    Optional<DomainId> declare(String topic, String node, DomainId domain) {
        String key = key(topics.intakeOf(topic), node);
        String before = store.get(key);
        if (domain.value().equals(before)) {
            return Optional.empty();
        }
        store.put(key, domain.value());
        return left(node, before);
    }

    /**
     * Notes a tombstone.
     *
     * @return the domain that the node has left; empty where the topic never declared it, or another topic still does
     */
    Optional<DomainId> remove(String topic, String node) {
        return left(node, store.delete(key(topics.intakeOf(topic), node)));
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
