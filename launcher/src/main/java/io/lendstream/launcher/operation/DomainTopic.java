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

/**
 * A topic whose keys are domains, on the broker; read from any offset of a domain's partition. One that is not there,
 * because a version before made the topics, has no records.
 */
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
        // To ask for the partitions of one topic could create it.
        partitions = reader.client().listTopics().getOrDefault(name, List.of()).size();
    }

    boolean isThere() {
        return partitions > 0;
    }

    String name() {
        return name;
    }

    /** The partition of a domain, by Kafka's default partitioner, with its present bounds. */
    Partition<T> of(DomainId domain) {
        if (!isThere()) {
            return new NotThere<>();
        }
        int number = Utils.toPositive(Utils.murmur2(domain.value().getBytes(UTF_8))) % partitions;
        TopicPartition partition = new TopicPartition(name, number);
        List<TopicPartition> one = List.of(partition);
        long beginning = reader.client().beginningOffsets(one).getOrDefault(partition, 0L);
        return new OnBroker(
                partition, beginning, reader.client().endOffsets(one).getOrDefault(partition, beginning));
    }

    /** The partition of a topic that is not there. */
    private record NotThere<T>() implements Partition<T> {
        @Override
        public long beginning() {
            return 0;
        }

        @Override
        public long end() {
            return 0;
        }

        @Override
        public Batch<T> read(long offset) {
            return new Batch<>(List.of(), 0);
        }
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
