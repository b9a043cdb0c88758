package io.lendstream.schemas.topics;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How a topic of the catalogue stands in a cluster.
 *
 * @param presence whether it is there, and since when
 * @param partitions how many there are; 0 when missing
 * @param replication copies of each partition; 0 when missing
 * @param config its values of the settings that the catalogue cares for
 * @param drifts where it differs from the catalogue; an operator decides what to do about them
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

    /** Whether a topic is there. */
    public enum Presence {
        MISSING,
        CREATED,
        PRESENT
    }

    /** A setting that is not as the catalogue has it. */
    public record Drift(String setting, String wanted, String actual) {
        @Override
        public String toString() {
            return "%s is %s, not %s".formatted(setting, actual, wanted);
        }
    }
}
