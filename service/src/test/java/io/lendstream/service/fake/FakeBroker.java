package io.lendstream.service.fake;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** All of Kafka that a service's tests need: topics of one partition, in memory, read and written at once. */
public final class FakeBroker {
    public static final TopicCatalogue TOPICS = TopicCatalogue.standard();

    private final Map<String, List<ConsumerRecord<byte[], byte[]>>> logs = new TreeMap<>();
    private final TopicCatalogue topics;
    private volatile Outage outage = Outage.NONE;

    /** What is the matter with it. */
    public enum Outage {
        NONE,
        /** Nothing can be read or written, as after a client's time-out. */
        AWAY,
        /** What is written arrives, but its writer is not told so. */
        ACKNOWLEDGEMENTS_LOST
    }

    public FakeBroker() {
        this(TOPICS);
    }

    /** One with the topics of a site, those of its intakes included. */
    public FakeBroker(TopicCatalogue topics) {
        this.topics = topics;
        for (Topic<?> topic : TopicCatalogue.ALL) {
            topics.names(topic).forEach(name -> logs.put(name, new CopyOnWriteArrayList<>()));
            logs.put(topics.deadLetters(topic), new CopyOnWriteArrayList<>());
        }
    }

    /** Begins or ends an outage. */
    public void outage(Outage next) {
        outage = next;
    }

    public boolean isAway() {
        return outage == Outage.AWAY;
    }

    private void requireThere() {
        if (isAway()) {
            throw new TimeoutException("the fake broker is away");
        }
    }

    /** Everything that was written to a topic, in order. */
    public List<ConsumerRecord<byte[], byte[]>> log(String topic) {
        List<ConsumerRecord<byte[], byte[]>> log = logs.get(topic);
        if (log == null) {
            throw new IllegalArgumentException("no topic " + topic);
        }
        return log;
    }

    /** What was written to a topic, as what it stands for; without tombstones. */
    public <T> List<T> values(Topic<T> topic) {
        return log(topics.name(topic)).stream()
                .filter(record -> record.value() != null)
                .map(record -> FakeSerdes.read(topic, record.value()))
                .toList();
    }

    public RecordWriter writer(String service) {
        return new RecordWriter(producer(), FakeSerdes.serializer(), topics, "/lendstream/" + service);
    }

    /** A writer of an intake. */
    public RecordWriter writerFor(String intake) {
        return new RecordWriter(
                producer(), FakeSerdes.serializer(), topics.writingFor(Optional.of(intake)), "/" + intake);
    }

    public RecordReader reader(RecordWriter deadLettersBy) {
        var deadLetters = new DeadLetters(deadLettersBy::send, topics, "test", new SimpleMeterRegistry());
        return new RecordReader(
                consumer(),
                FakeSerdes.deserializer(),
                topics,
                deadLetters,
                Duration.ofMinutes(5),
                InstantSource.system());
    }

    /** Writes like another client. */
    public <T> void publish(Topic<T> topic, String key, T value) {
        writer("another").write(topic, key, value);
    }

    public Producer<byte[], byte[]> producer() {
        return new MemoryProducer();
    }

    public Consumer<byte[], byte[]> consumer() {
        return new MemoryConsumer();
    }

    private synchronized RecordMetadata append(ProducerRecord<byte[], byte[]> record) {
        List<ConsumerRecord<byte[], byte[]>> log = log(record.topic());
        long offset = log.size();
        var stored = new ConsumerRecord<>(
                record.topic(),
                0,
                offset,
                0L,
                TimestampType.LOG_APPEND_TIME,
                0,
                0,
                record.key(),
                record.value(),
                record.headers(),
                Optional.<Integer>empty());
        log.add(stored);
        return new RecordMetadata(new TopicPartition(record.topic(), 0), offset, 0, 0L, 0, 0);
    }

    private final class MemoryProducer extends MockProducer<byte[], byte[]> {
        MemoryProducer() {
            super(true, null, new ByteArraySerializer(), new ByteArraySerializer());
        }

        @Override
        public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            Outage now = outage;
            if (now != Outage.NONE) {
                if (now == Outage.ACKNOWLEDGEMENTS_LOST) {
                    append(record);
                }
                var failure = new TimeoutException("no acknowledgement");
                callback.onCompletion(null, failure);
                return CompletableFuture.failedFuture(failure);
            }
            RecordMetadata written = append(record);
            callback.onCompletion(written, null);
            return CompletableFuture.completedFuture(written);
        }
    }

    /** A short wait like a real poll's, so that tests with a reader thread do not spin. */
    private static void idle(Duration timeout) {
        try {
            Thread.sleep(Math.min(5, timeout.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class MemoryConsumer extends MockConsumer<byte[], byte[]> {
        MemoryConsumer() {
            super("earliest");
        }

        @Override
        public synchronized List<PartitionInfo> partitionsFor(String topic) {
            return logs.containsKey(topic)
                    ? List.of(new PartitionInfo(topic, 0, Node.noNode(), new Node[0], new Node[0]))
                    : List.of();
        }

        @Override
        public synchronized Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
            requireThere();
            var offsets = new HashMap<TopicPartition, Long>();
            partitions.forEach(partition -> offsets.put(partition, 0L));
            return offsets;
        }

        @Override
        public synchronized Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
            requireThere();
            var offsets = new HashMap<TopicPartition, Long>();
            partitions.forEach(partition ->
                    offsets.put(partition, (long) log(partition.topic()).size()));
            return offsets;
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            var batch = new HashMap<TopicPartition, List<ConsumerRecord<byte[], byte[]>>>();
            var next = new HashMap<TopicPartition, OffsetAndMetadata>();
            for (TopicPartition partition : isAway() ? List.<TopicPartition>of() : List.copyOf(assignment())) {
                List<ConsumerRecord<byte[], byte[]>> log = log(partition.topic());
                int from = (int) position(partition);
                List<ConsumerRecord<byte[], byte[]>> more =
                        log.stream().skip(from).toList();
                if (!more.isEmpty()) {
                    batch.put(partition, more);
                    seek(partition, from + more.size());
                    next.put(partition, new OffsetAndMetadata(from + more.size()));
                }
            }
            if (batch.isEmpty() && !timeout.isZero()) {
                idle(timeout);
            }
            return new ConsumerRecords<>(batch, next);
        }
    }
}
