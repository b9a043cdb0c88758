package io.lendstream.launcher.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.operation.SequenceSearch.Batch;
import io.lendstream.launcher.operation.SequenceSearch.Partition;
import io.lendstream.launcher.operation.SequenceSearch.Placed;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/** A topic whose keys are domains, on the broker; read from any offset of a domain's partition. */
final class DomainTopic<T> implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    private final RecordReader reader;
    private final String name;
    private final int partitions;
    private List<Placed<T>> batch = new ArrayList<>();

    DomainTopic(TopicScan reading, TopicCatalogue topics, Topic<T> topic) {
        reader = reading.open();
        reader.handing(
                topic,
                received -> received.value()
                        .ifPresent(value ->
                                batch.add(new Placed<>(received.origin().offset(), value, received.written()))));
        name = topics.name(topic);
        partitions = reader.client().partitionsFor(name).size();
    }

    /** The partition of a domain, by Kafka's default partitioner, with its present bounds. */
    Partition<T> of(DomainId domain) {
        int number = Utils.toPositive(Utils.murmur2(domain.value().getBytes(UTF_8))) % partitions;
        TopicPartition partition = new TopicPartition(name, number);
        List<TopicPartition> one = List.of(partition);
        long beginning = reader.client().beginningOffsets(one).getOrDefault(partition, 0L);
        return new OnBroker(
                partition, beginning, reader.client().endOffsets(one).getOrDefault(partition, beginning));
    }

    private final class OnBroker implements Partition<T> {
        private final TopicPartition partition;
        private final long beginning;
        private final long end;
        private long position = -1;

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
        public Batch<T> read(long offset) {
            batch = new ArrayList<>();
            if (offset != position) { // to go on needs no seek, which would drop what was fetched ahead
                reader.client().assign(List.of(partition));
                reader.client().seek(partition, offset);
            }
            do {
                position = reader.client().position(partition);
                if (position < end) {
                    reader.poll(POLL);
                }
            } while (batch.isEmpty() && position < end);
            position = reader.client().position(partition);
            return new Batch<>(batch, position);
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
