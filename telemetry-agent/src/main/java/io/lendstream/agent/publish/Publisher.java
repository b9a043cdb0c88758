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

/** Takes records and sees to it that they get to the broker, in their order, sooner or later. */
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
     * Starts to deliver what was left and what will come.
     *
     * @param boot of this agent; part of each event's id
     * @param directory where records wait; empty for in memory, which a restart loses
     * @param bound how many bytes may wait
     * @throws IOException where the directory cannot be used
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

    /** Puts a record on its way; remarks go into the header {@value Outgoing#REMARKS}. */
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

    /** Why nothing is delivered now; empty while it is. */
    public Optional<String> trouble() {
        return delivery.trouble();
    }

    /** Why nothing will be delivered ever again, until another start; empty while something may be. */
    public Optional<String> ended() {
        return delivery.ended();
    }

    /** How many records wait. */
    public long waiting() {
        return backlog.waiting();
    }

    /** Waits until all is delivered; whether it was in time. */
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
            LOG.warn("{} records could not be delivered before the end", backlog.waiting());
        }
        backlog.close();
    }
}
