package io.lendstream.actuator;

import io.lendstream.core.id.DomainId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Tracks in which domains each topic declares an ID. A tombstone has no domain: it removes the declaration of its own
 * topic, and none of another topic under the same ID.
 */
final class Declarations<I> {
    private final Map<I, Map<String, DomainId>> byId = new HashMap<>();

    /**
     * Records a topic's latest declaration of an ID.
     *
     * @param topic Kafka name of the topic
     * @param domain empty for a tombstone
     * @return a domain in which no topic declares the ID any longer
     */
    Optional<DomainId> note(String topic, I id, Optional<DomainId> domain) {
        Map<String, DomainId> declared = byId.computeIfAbsent(id, any -> new HashMap<>());
        Optional<DomainId> before = Optional.ofNullable(declared.remove(topic));
        domain.ifPresent(now -> declared.put(topic, now));
        if (declared.isEmpty()) {
            byId.remove(id);
        }
        return before.filter(gone -> !declared.containsValue(gone));
    }
}
