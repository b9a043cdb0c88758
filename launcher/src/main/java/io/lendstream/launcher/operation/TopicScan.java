package io.lendstream.launcher.operation;

import io.lendstream.core.event.ServiceName;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/** Reads topics from outside. Unreadable records are skipped; services write them to dead letters. */
public final class TopicScan {
    /** Records are read whatever their timestamps. */
    private static final Duration ANY_SKEW = Duration.ofDays(36_500);

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration QUIET = Duration.ofSeconds(2);

    private final Cluster cluster;
    private final Consumer<String> progress;

    /** @param progress receives a line every two seconds while a topic is read */
    public TopicScan(Cluster cluster, Consumer<String> progress) {
        this.cluster = cluster;
        this.progress = progress;
    }

    /** A reader that is not started yet. */
    RecordReader open() {
        var aside = new DeadLetters(letter -> {}, cluster.topics(), "command", new SimpleMeterRegistry());
        return RecordReader.open(cluster.kafka(), cluster.topics(), aside, ANY_SKEW)
                .clamping();
    }

    /** The time of a new record: the virtual time of an accelerated run, else the wall clock. */
    public Instant now() {
        if (cluster.settings().get(CommonKeys.TIME) == TimeMode.WALL) {
            return Instant.now().truncatedTo(ChronoUnit.MILLIS);
        }
        List<Instant> told = new ArrayList<>();
        values(TopicCatalogue.PROGRESS, progress -> {
            if (progress.isOf(ServiceName.ENVIRONMENT)) {
                told.add(progress.eventTime());
            }
        });
        return told.stream()
                .max(Instant::compareTo)
                .orElseThrow(() -> UserError.failed(
                        "time is virtual, but topic %s has no virtual time yet. Start 'lendstream load', or set time=wall."
                                .formatted(cluster.topics().name(TopicCatalogue.PROGRESS))));
    }

    /** Reads every record that a topic has now, tombstones too. */
    <T> void all(Topic<T> topic, Consumer<Received<T>> to) {
        until(topic, to, () -> false);
    }

    /** Reads the values that a topic has now, until the caller has enough. */
    <T> void values(Topic<T> topic, Consumer<T> to, BooleanSupplier enough) {
        until(topic, received -> received.value().ifPresent(to), enough);
    }

    /** The short names of all GPUs, from the nodes' inventories. */
    GpuNames gpuNames() {
        GpuNames names = new GpuNames();
        values(TopicCatalogue.NODES, names::take);
        return names;
    }

    /** Reads every value that a topic has now. */
    <T> void values(Topic<T> topic, Consumer<T> to) {
        values(topic, to, () -> false);
    }

    /** Reads the values that were written in a time, and some later ones. */
    <T> void written(Topic<T> topic, Instant since, Instant until, Consumer<T> to) {
        try (RecordReader reader = open()) {
            Set<Integer> open = new HashSet<>();
            reader.handing(topic, received -> {
                received.value().ifPresent(to);
                if (received.written().isAfter(until)) {
                    open.remove(received.origin().partition());
                }
            });
            Map<String, Long> from =
                    since(reader, List.of(topic), since.isBefore(Instant.EPOCH) ? Instant.EPOCH : since);
            partitions(reader, List.of(topic)).forEach(partition -> open.add(partition.partition()));
            reader.start(from);
            while (!reader.hasCaughtUp() && !open.isEmpty()) {
                reader.poll(POLL);
            }
        }
    }

    private <T> void until(Topic<T> topic, Consumer<Received<T>> to, BooleanSupplier enough) {
        until(cluster.topics().name(topic), reader -> reader.handing(topic, to), enough);
    }

    /**
     * Reads every record that some topics have now, tombstones too.
     *
     * @param name the topics for people
     * @param handlers sets the handler of each topic
     */
    public void all(String name, Consumer<RecordReader> handlers) {
        until(name, handlers, () -> false);
    }

    private void until(String name, Consumer<RecordReader> handlers, BooleanSupplier enough) {
        try (RecordReader reader = open()) {
            handlers.accept(reader);
            reader.start(Map.of());
            long read = 0;
            long said = System.nanoTime();
            while (!reader.hasCaughtUp() && !enough.getAsBoolean()) {
                read += reader.poll(POLL);
                if (System.nanoTime() - said > QUIET.toNanos()) {
                    said = System.nanoTime();
                    progress.accept("%d records of %s read".formatted(read, name));
                }
            }
        }
    }

    /** The present ends of topics, in the form for {@link RecordReader#start}. */
    Map<String, Long> ends(RecordReader reader, List<Topic<?>> topics) {
        return named(reader.client().endOffsets(partitions(reader, topics)));
    }

    /** The offsets of the first records since a time. */
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

    /** The offsets of the last records of each partition. */
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
