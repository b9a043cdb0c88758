package io.lendstream.forecaster;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.Models;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a run of the forecaster is told.
 *
 * @param consumer properties of the Kafka consumer, the registry's among them
 * @param producer properties of the Kafka producer, the registry's among them
 * @param groupId consumer group under which progress is committed, and prefix of transactional ids
 * @param disorder how far behind the newest record of a partition others may come before timers stop waiting for them
 * @param idleAfter how long a partition may be silent before it no longer holds back event time
 * @param maxClockSkew how far ahead of the clock here a record may be stamped
 * @param forgetAfter how long a service may be silent before its state is dropped
 * @param stateDirectory where checkpoints go, and where a restart finds them; without it, a restart begins anew
 */
public record ForecasterSettings(
        Map<String, String> consumer,
        Map<String, String> producer,
        String groupId,
        TopicCatalogue topics,
        ForecastSettings forecast,
        Duration disorder,
        Duration idleAfter,
        Duration maxClockSkew,
        Duration forgetAfter,
        int parallelism,
        Delivery delivery,
        Duration checkpointInterval,
        Optional<Path> stateDirectory) {
    /** No divisor of it is wasted when the job is scaled; it cannot be changed without losing state. */
    static final int MAX_PARALLELISM = 120;

    public ForecasterSettings {
        consumer = Map.copyOf(consumer);
        producer = Map.copyOf(producer);
        // fails here, with the names that can be chosen, and not in the middle of the stream
        Models.create(forecast);
        if (groupId.isBlank()) {
            throw new IllegalArgumentException("forecaster.group-id must not be blank");
        }
        if (parallelism < 1 || parallelism > MAX_PARALLELISM) {
            throw new IllegalArgumentException("forecaster.parallelism is %d, but must lie between 1 and %d"
                    .formatted(parallelism, MAX_PARALLELISM));
        }
        atLeast("forecaster.disorder", disorder, Duration.ZERO);
        atLeast("forecaster.idle-after", idleAfter, Duration.ofMillis(1));
        atLeast("forecaster.max-clock-skew", maxClockSkew, Duration.ZERO);
        atLeast("forecaster.forget-after", forgetAfter, Duration.ofDays(1));
        atLeast("forecaster.checkpoint-interval", checkpointInterval, Duration.ofMillis(100));
    }

    /** The defaults, for a broker and a registry that need nothing but their addresses. */
    public static ForecasterSettings of(String bootstrapServers, String registryUrl) {
        Map<String, String> kafka = Map.of("bootstrap.servers", bootstrapServers, "schema.registry.url", registryUrl);
        return new ForecasterSettings(
                kafka,
                kafka,
                "lendstream-forecaster",
                TopicCatalogue.standard(),
                ForecastSettings.DEFAULT,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofMinutes(5),
                Duration.ofDays(14),
                1,
                Delivery.AT_LEAST_ONCE,
                Duration.ofSeconds(10),
                Optional.empty());
    }

    ForecasterSettings withStateDirectory(Path directory) {
        return new ForecasterSettings(
                consumer,
                producer,
                groupId,
                topics,
                forecast,
                disorder,
                idleAfter,
                maxClockSkew,
                forgetAfter,
                parallelism,
                delivery,
                checkpointInterval,
                Optional.of(directory));
    }

    private static void atLeast(String name, Duration value, Duration bound) {
        if (value.compareTo(bound) < 0) {
            throw new IllegalArgumentException("%s is %s, but must be at least %s".formatted(name, value, bound));
        }
    }

    /** Properties with these on top. */
    static Map<String, String> plus(Map<String, String> properties, Map<String, String> more) {
        Map<String, String> all = new TreeMap<>(properties);
        all.putAll(more);
        return all;
    }
}
