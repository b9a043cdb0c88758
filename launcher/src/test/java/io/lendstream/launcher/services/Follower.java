package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Reads the values of a topic as they are committed, so that a test can act on one within some milliseconds. */
final class Follower<T> implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(10);

    private final List<T> values = new CopyOnWriteArrayList<>();
    private final Thread thread;
    private volatile boolean over;

    Follower(Deployment deployment, Topic<T> topic) {
        thread = new Thread(() -> follow(deployment, topic), "follower-" + topic.suffix());
        thread.setDaemon(true);
        thread.start();
    }

    private void follow(Deployment deployment, Topic<T> topic) {
        try (RecordReader reader = deployment.reader()) {
            reader.handing(topic, received -> received.value().ifPresent(values::add));
            reader.start(Map.of());
            while (!over) {
                reader.poll(POLL);
            }
        }
    }

    /** Waits for the first value of a sort, also if it has been read before. */
    T awaitFirst(Duration patience, Predicate<T> wanted) {
        return await().pollDelay(Duration.ZERO)
                .pollInterval(POLL)
                .atMost(patience)
                .until(
                        () -> {
                            assertThat(thread.isAlive())
                                    .as("%s reads", thread.getName())
                                    .isTrue();
                            return values.stream().filter(wanted).findFirst();
                        },
                        Optional::isPresent)
                .orElseThrow();
    }

    @Override
    public void close() {
        over = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
