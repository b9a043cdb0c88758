package io.lendstream.launcher.cluster;

import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.Settings;
import java.time.Duration;

/**
 * A cluster, as it was named.
 *
 * @param patience how long it may take to answer
 * @param settings all that was said, by file, environment and options
 */
public record Cluster(KafkaSettings kafka, TopicCatalogue topics, Duration patience, Settings settings) {}
