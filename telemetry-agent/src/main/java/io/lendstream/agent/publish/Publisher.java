package io.lendstream.agent.publish;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.service.kafka.EventTimes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Queues records and delivers them to the broker in order. */
public final class Publisher implements RecordSink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

    private final Backlog backlog;
    private final String boot;
    private final BacklogSender delivery;
    private final Thread thread;
    private final Map<Topic<?>, Long> fingerprints = new HashMap<>();
    private long published;

    private Publisher(Backlog backlog, String boot, BacklogSender delivery) {
        this.backlog = backlog;
        this.boot = boot;
        this.delivery = delivery;
        this.thread = new Thread(delivery, "delivery");
        thread.setDaemon(true);
    }

    /**
     * Starts to deliver queued and new records.
     *
     * @param boot boot ID of this agent; part of each event's ID
     * @param directory directory of queued records; empty for in memory, which a restart loses
     * @param bound most bytes of queued records
     * @throws IOException if the directory cannot be used
     */
    public static Publisher start(
            BrokerTarget outlet, String boot, Optional<Path> directory, long bound, MeterRegistry metrics)
            throws IOException {
        Backlog backlog = directory.isPresent() ? Spool.open(directory.get(), bound) : new MemoryBacklog(bound);
        SchemaShelf schemas = directory.isPresent() ? SchemaShelf.in(directory.get()) : SchemaShelf.inMemory();
        return start(outlet, boot, backlog, schemas, metrics);
    }

    static Publisher start(
            BrokerTarget outlet, String boot, Backlog backlog, SchemaShelf schemas, MeterRegistry metrics) {
        var publisher = new Publisher(backlog, boot, new BacklogSender(backlog, schemas, outlet, metrics));
        metrics.gauge("lendstream.spool.records", backlog, Backlog::waiting);
        metrics.gauge("lendstream.spool.bytes", backlog, Backlog::bytes);
        metrics.more().counter("lendstream.spool.lost", Tags.empty(), backlog, Backlog::lost);
        publisher.thread.start();
        return publisher;
    }

    /** Queues a record; remarks go into the header {@value Outgoing#REMARKS}. */
    @Override
    public <T> void publish(Topic<T> topic, String key, T value, List<String> remarks) {
        byte[] body = AvroBytes.write(Codecs.encode(topic, value));
        synchronized (this) {
            published++;
            backlog.append(new Waiting(
                            topic.suffix(),
                            key,
                            boot + "-" + published,
                            EventTimes.of(value).orElse(Instant.EPOCH),
                            String.join(",", remarks),
                            fingerprints.computeIfAbsent(topic, any -> SchemaShelf.fingerprint(Codecs.schema(topic))),
                            body)
                    .toBytes());
        }
        delivery.wake();
    }

    /** Why nothing is delivered now; empty without a problem. */
    public Optional<String> trouble() {
        return delivery.trouble();
    }

    /** Why nothing will be delivered until a restart; empty while delivery is possible. */
    public Optional<String> ended() {
        return delivery.ended();
    }

    /** The number of queued records. */
    public long waiting() {
        return backlog.waiting();
    }

    /** Waits until all records are delivered, up to a time limit; returns whether they are. */
    public boolean drain(Duration patience) {
        long until = System.nanoTime() + patience.toNanos();
        try {
            while (backlog.waiting() > 0 && System.nanoTime() < until) {
                delivery.wake();
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return backlog.waiting() == 0;
    }

    @Override
    public void close() {
        delivery.stop(thread);
        try {
            thread.join(2000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (backlog.waiting() > 0) {
            LOG.warn("stopping with {} undelivered records", backlog.waiting());
        }
        backlog.close();
    }
}
