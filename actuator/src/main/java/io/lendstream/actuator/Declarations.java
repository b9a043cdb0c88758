package io.lendstream.actuator;

import io.lendstream.core.id.DomainId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * In which domains each of the topics declares something. A tombstone has no domain: it takes back what its own topic declared,
 * and nothing that another topic declares under the same name.
 */
final class Declarations<I> {
    private final Map<I, Map<String, DomainId>> byId = new HashMap<>();

    /**
     * Notes what a topic says last of an ID.
     *
     * @param topic its name in Kafka
     * @param domain empty for a tombstone
     * @return a domain in which no topic declares it any longer
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
