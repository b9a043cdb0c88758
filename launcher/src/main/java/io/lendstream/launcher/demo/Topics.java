package io.lendstream.launcher.demo;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Reads the topics of a run. Unreadable records are skipped; services write them to dead letters. */
final class Topics {
    private final TopicCatalogue catalogue;
    private final KafkaSettings kafka;

    Topics(String bootstrapServers, String registry, TopicCatalogue catalogue) {
        this.catalogue = catalogue;
        this.kafka = KafkaSettings.of(
                "demo",
                Settings.of(
                        CommonKeys.ALL,
                        "kafka.bootstrap.servers=" + bootstrapServers,
                        "schema.registry.url=" + registry));
    }

    TopicCatalogue catalogue() {
        return catalogue;
    }

    KafkaSettings kafka() {
        return kafka;
    }

    /** A reader of all values of topics, from the beginning. */
    RecordReader reader(List<Topic<?>> topics, Consumer<Object> to) {
        RecordReader reader = open();
        topics.forEach(topic -> hand(reader, topic, to));
        reader.start(Map.of());
        return reader;
    }

    /** Reads a topic from its beginning to its present end. */
    <T> void readAll(Topic<T> topic, Consumer<? super T> to) {
        try (RecordReader reader = open()) {
            hand(reader, topic, to);
            reader.start(Map.of());
            while (!reader.hasCaughtUp()) {
                reader.poll(Duration.ofMillis(200));
            }
        }
    }

    private RecordReader open() {
        var deadLetters = new DeadLetters(letter -> {}, catalogue, "demo", new SimpleMeterRegistry());
        return RecordReader.open(kafka, catalogue, deadLetters, Duration.ofMinutes(5));
    }

    private static <T> void hand(RecordReader reader, Topic<T> topic, Consumer<? super T> to) {
        reader.handing(topic, received -> received.value().ifPresent(to));
    }
}
