package io.lendstream.launcher.operation;

import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;

/**
 * Compares the clocks of services with the clock of the broker, by their latest records.
 *
 * <p>A record has the time of its writer ({@code ce_time}) and the time when the broker appended it. Their difference
 * shows how far the writer's clock is ahead, less the delay of the record. The record with the shortest delay counts.
 * A clock that is ahead is certain; a clock that is behind looks like records that waited, as after an outage. The
 * forecaster is left out: its records carry the time of their rates. The load generator is left out: it writes
 * records for the next seconds.
 */
final class Clocks {
    /** Topics whose writers stamp records with their own clocks. */
    private static final List<Topic<?>> STAMPED = List.of(
            TopicCatalogue.GPU_TELEMETRY,
            TopicCatalogue.REQUEST_RATES,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.ACTUATION_REPORTS,
            TopicCatalogue.DOMAIN_EVENTS);

    private static final String LOAD = "/lendstream/load";
    private static final int NEWEST = 200;
    private static final Duration LATELY = Duration.ofMinutes(10);
    private static final Duration POLL = Duration.ofMillis(200);

    /** The times of a record: made by the clock of its writer, appended by the clock of the broker. */
    record Stamp(String source, Instant made, Instant appended) {}

    private Clocks() {}

    /**
     * How far each writer's clock is ahead of the broker's, negative if behind, by the writer's name. Only records of
     * the ten minutes before the newest count.
     */
    static Map<String, Duration> ahead(Collection<Stamp> stamps) {
        Map<String, Duration> ahead = new TreeMap<>();
        Optional<Instant> newest = stamps.stream().map(Stamp::appended).max(Instant::compareTo);
        for (Stamp stamp : stamps) {
            if (!stamp.appended().isBefore(newest.orElseThrow().minus(LATELY))) {
                ahead.merge(
                        stamp.source(),
                        Duration.between(stamp.appended(), stamp.made()),
                        (one, other) -> one.compareTo(other) > 0 ? one : other);
            }
        }
        return ahead;
    }

    /**
     * The newest stamps of a cluster, read within the connect timeout. Topics without the broker's time are left out.
     */
    static List<Stamp> read(Cluster cluster) {
        Map<String, Object> properties = cluster.kafka().consumer();
        properties.put("default.api.timeout.ms", (int) cluster.patience().toMillis());
        var stamps = new ArrayList<Stamp>();
        try (var consumer = new KafkaConsumer<byte[], byte[]>(properties)) {
            List<TopicPartition> partitions = STAMPED.stream()
                    .flatMap(topic -> consumer.partitionsFor(cluster.topics().name(topic)).stream())
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(partitions));
            consumer.beginningOffsets(partitions)
                    .forEach((partition, beginning) ->
                            consumer.seek(partition, Math.max(beginning, ends.getOrDefault(partition, 0L) - NEWEST)));
            long until = System.nanoTime() + cluster.patience().toNanos();
            while (System.nanoTime() < until
                    && partitions.stream()
                            .anyMatch(partition -> consumer.position(partition) < ends.getOrDefault(partition, 0L))) {
                consumer.poll(POLL).forEach(record -> stamp(record).ifPresent(stamps::add));
            }
        }
        return stamps;
    }

    private static Optional<Stamp> stamp(ConsumerRecord<byte[], byte[]> record) {
        if (record.timestampType() != TimestampType.LOG_APPEND_TIME) {
            return Optional.empty();
        }
        return CloudEventHeaders.from(record.headers())
                .filter(event ->
                        event.time().isAfter(Instant.EPOCH) && !event.source().equals(LOAD))
                .map(event -> new Stamp(event.source(), event.time(), Instant.ofEpochMilli(record.timestamp())));
    }
}
