package io.lendstream.schemas.topics;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The state of a topic of the catalogue in a cluster.
 *
 * @param presence whether the topic exists, and since when
 * @param partitions number of partitions; 0 if missing
 * @param replication replicas of each partition; 0 if missing
 * @param config values of the settings in the catalogue
 * @param drifts differences from the catalogue; an operator decides how to resolve them
 */
public record TopicState(
        String name,
        Presence presence,
        int partitions,
        int replication,
        Map<String, String> config,
        List<Drift> drifts) {
    public TopicState {
        config = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(config));
        drifts = List.copyOf(drifts);
    }

    /** Whether a topic exists. */
    public enum Presence {
        MISSING,
        CREATED,
        PRESENT
    }

    /** A setting that differs from the catalogue. */
    public record Drift(String setting, String wanted, String actual) {
        @Override
        public String toString() {
            return "%s is %s, not %s".formatted(setting, actual, wanted);
        }
    }
}
