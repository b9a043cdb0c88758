package io.lendstream.launcher.demo;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the topics of a running demo in its own thread. */
final class TopicTail implements AutoCloseable {
    static final List<Topic<?>> WATCHED = List.of(
            TopicCatalogue.LEASES,
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.REQUEST_RATES,
            TopicCatalogue.DEMAND_FORECASTS,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.DECISIONS,
            TopicCatalogue.PROGRESS);
    private static final Logger LOG = LoggerFactory.getLogger(TopicTail.class);

    private final Thread thread;
    private volatile boolean stopped;

    private TopicTail(RecordReader reader) {
        this.thread = new Thread(() -> watch(reader), "topic-tail");
        this.thread.setDaemon(true);
    }

    /** Starts to read. */
    static TopicTail of(Topics topics, Consumer<Object> to) {
        var tail = new TopicTail(topics.reader(WATCHED, to));
        tail.thread.start();
        return tail;
    }

    private void watch(RecordReader reader) {
        try (reader) {
            while (!stopped) {
                reader.poll(Duration.ofMillis(200));
            }
        } catch (KafkaException e) {
            LOG.warn("the live view is no longer updated: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        stopped = true;
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
