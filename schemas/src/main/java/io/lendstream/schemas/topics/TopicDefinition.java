package io.lendstream.schemas.topics;

import io.lendstream.schemas.topics.Topic.Cleanup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What a cluster is to be told about one topic, dead letters included.
 *
 * @param partitions how many; empty for as many as whoever creates it says
 * @param base the topic that it has as many partitions as, where it is an intake's
 */
record TopicDefinition(
        String name, Optional<Integer> partitions, SortedMap<String, String> config, Optional<String> base) {

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

    /** The same for a site that has its base topic already, or is about to get it. */
    TopicDefinition alikeBase(Function<String, Optional<Integer>> partitionsThere) {
        Optional<Integer> wanted = partitions.or(() -> base.flatMap(partitionsThere));
        return new TopicDefinition(name, wanted, config, base);
    }

    private static SortedMap<String, String> config(Topic<?> topic) {
        SortedMap<String, String> config = new TreeMap<>();
        config.put("cleanup.policy", topic.cleanup().policy());
        topic.retention().ifPresent(kept -> config.put("retention.ms", Long.toString(kept.toMillis())));
        if (topic.cleanup().compacts()) {
            // Readers see the newest record of a key soon, not only once a segment has filled up after a week.
            config.put("segment.ms", millis(Duration.ofHours(1)));
            config.put("max.compaction.lag.ms", millis(Duration.ofHours(2)));
            config.put("delete.retention.ms", millis(Duration.ofDays(1)));
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
     * Records carry their event time as a field; Kafka's own timestamp only decides when they are deleted. A replay of
     * last year's trace must not be deleted at once, nor a record from a clock that is ahead be kept for ever.
     */
    private static Map<String, String> brokerTime() {
        return Map.of("message.timestamp.type", "LogAppendTime");
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}
