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
 * The clocks of services against the broker's, from what they wrote lately.
 *
 * <p>A record says when it was made, by its writer's clock ({@code ce_time}), and when the broker appended it. The first minus the
 * second is what the writer's clock is ahead, less the record's way. Of several records of a writer the one with the shortest way
 * counts. So a clock that is ahead is certain; one that is behind cannot be told from records that waited, as after an outage. The
 * forecaster is left out: its records carry the time of the rates they rest on. So is the load generator, which writes what is planned
 * for the next seconds.
 */
final class Clocks {
    /** Topics whose writers stamp records by their own clock when they write them. */
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

    /** When a record was made and appended, by the clocks of who did it. */
    record Stamp(String source, Instant made, Instant appended) {}

    private Clocks() {}

    /**
     * By how much each writer is ahead of the broker, negative where it is behind, by its name. Only what was appended in the ten
     * minutes before the newest of all counts.
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
     * The newest stamps of a cluster, as far as they can be read in the time that a try may take. Topics that keep no broker's time are
     * left out.
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
