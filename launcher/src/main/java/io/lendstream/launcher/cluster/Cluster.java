package io.lendstream.launcher.cluster;

import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.Settings;
import java.time.Duration;

/**
 * A cluster by its options.
 *
 * @param patience the time limit for an answer
 * @param settings all settings of file, environment and options
 */
public record Cluster(KafkaSettings kafka, TopicCatalogue topics, Duration patience, Settings settings) {}
