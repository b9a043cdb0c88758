package io.lendstream.schemas.topics;

import io.lendstream.schemas.topics.Topic.Cleanup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The definition of one topic for a cluster, dead letters included.
 *
 * @param partitions number of partitions; empty for the number that its creator chooses
 * @param base for an intake's topic: the topic whose number of partitions it has
 */
record TopicDefinition(
        String name, Optional<Integer> partitions, SortedMap<String, String> config, Optional<String> base) {

    /** Topics whose many small records resemble each other. Snapshots are compressed by their writer. */
    private static final Set<Topic<?>> COMPRESSED = Set.of(TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.REASONS);

    static List<TopicDefinition> all(TopicCatalogue catalogue) {
        List<TopicDefinition> definitions = new ArrayList<>();
        for (TopicCatalogue.Named named : catalogue.everyName()) {
            definitions.add(new TopicDefinition(named.name(), Optional.empty(), config(named.topic()), named.base()));
        }
        for (Topic<?> topic : TopicCatalogue.ALL) {
            definitions.add(new TopicDefinition(
                    catalogue.deadLetters(topic), Optional.of(1), deadLetterConfig(), Optional.empty()));
        }
        return definitions;
    }

    /** The definition for a site that has the base topic, or is about to create it. */
    TopicDefinition alikeBase(Function<String, Optional<Integer>> partitionsThere) {
        Optional<Integer> wanted = partitions.or(() -> base.flatMap(partitionsThere));
        return new TopicDefinition(name, wanted, config, base);
    }

    private static SortedMap<String, String> config(Topic<?> topic) {
        SortedMap<String, String> config = new TreeMap<>();
        config.put("cleanup.policy", topic.cleanup().policy());
        topic.retention().ifPresent(kept -> config.put("retention.ms", Long.toString(kept.toMillis())));
        if (topic.cleanup().compacts()) {
            // Readers see the newest record of a key soon, not only after a segment has filled up for a week.
            config.put("segment.ms", millis(Duration.ofHours(1)));
            config.put("max.compaction.lag.ms", millis(Duration.ofHours(2)));
            config.put("delete.retention.ms", millis(Duration.ofDays(1)));
        }
        if (COMPRESSED.contains(topic)) {
            config.put("compression.type", "lz4");
        }
        config.putAll(brokerTime());
        return config;
    }

    private static SortedMap<String, String> deadLetterConfig() {
        SortedMap<String, String> config = new TreeMap<>(brokerTime());
        config.put("cleanup.policy", Cleanup.DELETE.policy());
        config.put("retention.ms", millis(TopicCatalogue.DEAD_LETTER_RETENTION));
        return config;
    }

    /**
     * Records carry their event time as a field; Kafka's timestamp only determines when they are deleted. A replay of
     * an old trace must not be deleted at once, and a record from a fast clock must not be kept forever.
     */
    private static Map<String, String> brokerTime() {
        return Map.of("message.timestamp.type", "LogAppendTime");
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}
