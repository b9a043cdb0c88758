package io.lendstream.launcher.operation;

import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/** Topics as an onlooker reads them. What cannot be read is left out: the services that it is meant for put it aside. */
final class TopicScan {
    /** An onlooker takes records as they are stamped. */
    private static final Duration ANY_SKEW = Duration.ofDays(36_500);

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration QUIET = Duration.ofSeconds(2);

    private final Cluster cluster;
    private final Consumer<String> progress;

    /** @param progress is told now and then how far a long reading has got */
    TopicScan(Cluster cluster, Consumer<String> progress) {
        this.cluster = cluster;
        this.progress = progress;
    }

    /** A reader that is not started yet. */
    RecordReader open() {
        var aside = new DeadLetters(letter -> {}, cluster.topics(), "command", new SimpleMeterRegistry());
        return RecordReader.open(cluster.kafka(), cluster.topics(), aside, ANY_SKEW)
                .clamping();
    }

    /** Hands over every record of a topic that is there now, tombstones too. */
    <T> void all(Topic<T> topic, Consumer<Received<T>> to) {
        until(topic, to, () -> false);
    }

    /** Hands over every value of a topic that is there now, until somebody has heard enough. */
    <T> void values(Topic<T> topic, Consumer<T> to, BooleanSupplier enough) {
        until(topic, received -> received.value().ifPresent(to), enough);
    }

    /** Hands over every value of a topic that is there now. */
    <T> void values(Topic<T> topic, Consumer<T> to) {
        values(topic, to, () -> false);
    }

    private <T> void until(Topic<T> topic, Consumer<Received<T>> to, BooleanSupplier enough) {
        try (RecordReader reader = open()) {
            reader.handing(topic, to);
            reader.start(Map.of());
            long read = 0;
            long said = System.nanoTime();
            while (!reader.hasCaughtUp() && !enough.getAsBoolean()) {
                read += reader.poll(POLL);
                if (System.nanoTime() - said > QUIET.toNanos()) {
                    said = System.nanoTime();
                    progress.accept("%d records of %s read"
                            .formatted(read, cluster.topics().name(topic)));
                }
            }
        }
    }

    /** Where topics end now, as {@link RecordReader#start} takes it. */
    Map<String, Long> ends(RecordReader reader, List<Topic<?>> topics) {
        return named(reader.client().endOffsets(partitions(reader, topics)));
    }

    /** Where what was written since a time begins. */
    Map<String, Long> since(RecordReader reader, List<Topic<?>> topics, Instant time) {
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions(reader, topics).forEach(partition -> times.put(partition, time.toEpochMilli()));
        Map<String, Long> from = ends(reader, topics);
        reader.client().offsetsForTimes(times).forEach((partition, found) -> {
            if (found != null) {
                from.put(partition.toString(), found.offset());
            }
        });
        return from;
    }

    /** Where the last records of each partition begin. */
    Map<String, Long> last(RecordReader reader, Topic<?> topic, int records) {
        Map<String, Long> from = ends(reader, List.of(topic));
        named(reader.client().beginningOffsets(partitions(reader, List.of(topic))))
                .forEach((partition, beginning) ->
                        from.computeIfPresent(partition, (name, end) -> Math.max(beginning, end - records)));
        return from;
    }

    private List<TopicPartition> partitions(RecordReader reader, List<Topic<?>> topics) {
        return topics.stream()
                .flatMap(topic -> cluster.topics().names(topic).stream())
                .flatMap(name -> reader.client().partitionsFor(name).stream())
                .map(info -> new TopicPartition(info.topic(), info.partition()))
                .toList();
    }

    private static Map<String, Long> named(Map<TopicPartition, Long> offsets) {
        Map<String, Long> named = new HashMap<>();
        offsets.forEach((partition, offset) -> named.put(partition.toString(), offset));
        return named;
    }
}
