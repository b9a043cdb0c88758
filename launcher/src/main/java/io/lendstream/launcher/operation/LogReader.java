package io.lendstream.launcher.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.operation.SchedulerSearch.Batch;
import io.lendstream.launcher.operation.SchedulerSearch.LogPartition;
import io.lendstream.launcher.operation.SchedulerSearch.Placed;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/** The logs of the domains on the broker, read from any offset. */
final class LogReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    private final RecordReader reader;
    private final String name;
    private final List<TopicPartition> partitions;
    private List<Placed> batch = new ArrayList<>();

    LogReader(TopicScan reading, TopicCatalogue topics) {
        reader = reading.open();
        reader.handing(
                TopicCatalogue.DOMAIN_EVENTS,
                received -> received.value()
                        .ifPresent(
                                event -> batch.add(new Placed(received.origin().offset(), event))));
        name = topics.name(TopicCatalogue.DOMAIN_EVENTS);
        partitions = reader.client().partitionsFor(name).stream()
                .map(info -> new TopicPartition(name, info.partition()))
                .toList();
    }

    /** The last start of a scheduler in each domain, if the log still has it. */
    List<SchedulerStarted> schedulers(Collection<DomainId> domains) {
        Map<TopicPartition, Long> beginnings = reader.client().beginningOffsets(partitions);
        Map<TopicPartition, Long> ends = reader.client().endOffsets(partitions);
        List<LogPartition> logs = partitions.stream()
                .map(partition -> (LogPartition) new OnBroker(
                        partition, beginnings.getOrDefault(partition, 0L), ends.getOrDefault(partition, 0L)))
                .toList();
        return new SchedulerSearch(logs).find(domains);
    }

    /** The events of commands that schedulers accepted. */
    List<DomainEvent> accepted(CommandSearch search) {
        return search.accepted(this::log);
    }

    /** The partition of a domain, by Kafka's default partitioner with the domain's name as a key. */
    private LogPartition log(DomainId domain) {
        int number = Utils.toPositive(Utils.murmur2(domain.value().getBytes(UTF_8))) % partitions.size();
        TopicPartition partition = new TopicPartition(name, number);
        List<TopicPartition> one = List.of(partition);
        return new OnBroker(
                partition,
                reader.client().beginningOffsets(one).getOrDefault(partition, 0L),
                reader.client().endOffsets(one).getOrDefault(partition, 0L));
    }

    /** A partition with its bounds at the beginning of a search. */
    private final class OnBroker implements LogPartition {
        private final TopicPartition partition;
        private final long beginning;
        private final long end;

        OnBroker(TopicPartition partition, long beginning, long end) {
            this.partition = partition;
            this.beginning = beginning;
            this.end = end;
        }

        @Override
        public long beginning() {
            return beginning;
        }

        @Override
        public long end() {
            return end;
        }

        @Override
        public long since(Instant written) {
            OffsetAndTimestamp found = reader.client()
                    .offsetsForTimes(Map.of(partition, Math.max(0, written.toEpochMilli())))
                    .get(partition);
            return found == null ? end : found.offset();
        }

        @Override
        public Batch read(long offset) {
            batch = new ArrayList<>();
            reader.client().assign(List.of(partition));
            reader.client().seek(partition, offset);
            while (batch.isEmpty() && reader.client().position(partition) < end) {
                reader.poll(POLL);
            }
            return new Batch(batch, reader.client().position(partition));
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
