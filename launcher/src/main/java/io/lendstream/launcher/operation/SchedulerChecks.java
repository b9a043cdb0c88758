package io.lendstream.launcher.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

/** Reads the refused records and the logs of the scheduler, and judges its state by them. */
final class SchedulerChecks {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration HEARD = Duration.ofMinutes(1);
    private static final Duration LOGGED = Duration.ofMinutes(5);
    /** The number of latest dead letters read from each partition. */
    private static final long LETTERS = 500;

    private static final List<Topic<?>> INPUTS = List.of(
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.QUEUES,
            TopicCatalogue.DOMAIN_SETTINGS,
            TopicCatalogue.DEMAND_FORECASTS,
            TopicCatalogue.CONTROL,
            TopicCatalogue.GPU_TELEMETRY,
            TopicCatalogue.REQUEST_RATES,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.ACTUATION_REPORTS,
            TopicCatalogue.ACTUATORS);

    private final Cluster cluster;
    private final TopicScan reading;
    private final Instant now;

    SchedulerChecks(Cluster cluster, TopicScan reading, Instant now) {
        this.cluster = cluster;
        this.reading = reading;
        this.now = now;
    }

    Finding deadLetters() {
        return SchedulerDiagnosis.deadLetters(refused());
    }

    Finding domains() {
        Set<String> heard = new TreeSet<>();
        Map<String, Instant> logged = new TreeMap<>();
        try (RecordReader reader = reading.open()) {
            reader.handing(
                    TopicCatalogue.GPU_TELEMETRY,
                    received -> received.value()
                            .ifPresent(sample -> heard.add(sample.domain().value())));
            reader.handing(
                    TopicCatalogue.DOMAIN_EVENTS,
                    received -> received.value()
                            .ifPresent(
                                    event -> logged.merge(event.domain().value(), event.at(), SchedulerChecks::later)));
            Map<String, Long> from = reading.since(reader, List.of(TopicCatalogue.GPU_TELEMETRY), now.minus(HEARD));
            from.putAll(reading.since(reader, List.of(TopicCatalogue.DOMAIN_EVENTS), now.minus(LOGGED)));
            reader.start(from);
            while (!reader.hasCaughtUp()) {
                reader.poll(POLL);
            }
        }
        return SchedulerDiagnosis.domains(refused(), heard, logged, now);
    }

    /** Whether agents name the users of GPUs. */
    Finding users() {
        UserDiagnosis users = new UserDiagnosis();
        try (RecordReader reader = reading.open()) {
            reader.handing(
                    TopicCatalogue.GPU_TELEMETRY, received -> received.value().ifPresent(users::take));
            reader.start(reading.since(reader, List.of(TopicCatalogue.GPU_TELEMETRY), now.minus(HEARD)));
            while (!reader.hasCaughtUp()) {
                reader.poll(POLL);
            }
        }
        return users.finding();
    }

    /** The levels of trust: the start of each scheduler carries one, and decisions answer each change. */
    Finding trust() {
        SeenTrust trust = new SeenTrust();
        Set<DomainId> domains = new TreeSet<>();
        reading.values(TopicCatalogue.NODES, node -> domains.add(node.domain()));
        try (LogReader log = new LogReader(reading, cluster.topics())) {
            log.schedulers(domains).forEach(trust::take);
        }
        reading.values(TopicCatalogue.DECISIONS, trust::take);
        return trust.finding(domains);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private List<RefusedRecords> refused() {
        List<RefusedRecords> all = new ArrayList<>();
        try (RecordReader reader = reading.open()) {
            var consumer = reader.client();
            for (Topic<?> topic : INPUTS) {
                String name = cluster.topics().name(topic);
                Span records = span(consumer, name);
                Span letters = span(consumer, cluster.topics().deadLetters(topic));
                List<RefusedRecords.Letter> latest = new ArrayList<>();
                if (letters.count() > 0) {
                    read(consumer, letters, record -> latest.add(letter(record)));
                    latest.sort(Comparator.comparing(RefusedRecords.Letter::at));
                }
                all.add(new RefusedRecords(name, records.count(), letters.count(), latest));
            }
        }
        return all;
    }

    /** The offsets of the records written to a topic in the last hour, by partition. */
    private record Span(Map<TopicPartition, Long> from, Map<TopicPartition, Long> to) {
        long count() {
            return to.entrySet().stream()
                    .mapToLong(end -> end.getValue() - from.getOrDefault(end.getKey(), end.getValue()))
                    .sum();
        }
    }

    private Span span(org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer, String topic) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, now.minus(HOUR).toEpochMilli()));
        Map<TopicPartition, Long> from = new HashMap<>();
        for (Map.Entry<TopicPartition, OffsetAndTimestamp> found :
                consumer.offsetsForTimes(times).entrySet()) {
            if (found.getValue() != null) {
                from.put(found.getKey(), found.getValue().offset());
            }
        }
        return new Span(from, ends);
    }

    private static void read(
            org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer,
            Span span,
            Consumer<ConsumerRecord<byte[], byte[]>> to) {
        consumer.assign(span.from().keySet());
        span.from().forEach((partition, from) -> {
            long end = span.to().getOrDefault(partition, from);
            consumer.seek(partition, Math.max(from, end - LETTERS));
        });
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (isBehind(consumer, span) && System.nanoTime() < until) {
            consumer.poll(POLL).forEach(to);
        }
    }

    private static boolean isBehind(org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer, Span span) {
        return span.from().keySet().stream()
                .anyMatch(partition -> consumer.position(partition) < span.to().getOrDefault(partition, 0L));
    }

    private static RefusedRecords.Letter letter(ConsumerRecord<byte[], byte[]> record) {
        return new RefusedRecords.Letter(
                Instant.ofEpochMilli(record.timestamp()),
                text(record, DeadLetters.SERVICE),
                text(record, DeadLetters.ERROR_CLASS),
                text(record, DeadLetters.ERROR_MESSAGE));
    }

    private static String text(ConsumerRecord<byte[], byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null || header.value() == null ? "" : new String(header.value(), UTF_8);
    }
}
