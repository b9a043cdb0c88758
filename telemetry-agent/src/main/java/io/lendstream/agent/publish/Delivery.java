package io.lendstream.agent.publish;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.serde.AvroSerializer;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.WireSchemas;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes the oldest records of a backlog to the broker, batch after batch, and begins again where it failed. */
final class Delivery implements Runnable {
    /** The header with remarks on how a record came to be. */
    static final String REMARKS = "lendstream.remarks";

    private static final Logger LOG = LoggerFactory.getLogger(Delivery.class);
    private static final int BATCH = 500;
    /** A request to the broker costs as much as many records; those that come faster than this share one. */
    private static final Duration BETWEEN_BATCHES = Duration.ofMillis(250);

    private static final Duration FIRST_WAIT = Duration.ofMillis(250);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    private final Backlog backlog;
    private final SchemaShelf schemas;
    private final Outlet outlet;
    private final BrokerClock clock;
    private final Counter written;
    private final Counter unreadable;
    private final Semaphore work = new Semaphore(0);
    private final Map<Topic<?>, Long> fingerprints = new HashMap<>();
    private final AtomicReference<Optional<String>> trouble =
            new AtomicReference<>(Optional.of("the broker has not answered yet"));
    private Optional<Client> client = Optional.empty();
    private volatile boolean stopped;

    Delivery(Backlog backlog, SchemaShelf schemas, Outlet outlet, MeterRegistry metrics) {
        this.backlog = backlog;
        this.schemas = schemas;
        this.outlet = outlet;
        this.clock = new BrokerClock(metrics);
        this.written = metrics.counter("lendstream.records.written");
        this.unreadable = metrics.counter("lendstream.records.unreadable");
    }

    private record Client(Producer<byte[], byte[]> producer, Serializer<GenericRecord> serializer) {
        void close() {
            producer.close(Duration.ZERO);
            serializer.close();
        }
    }

    /** There may be something to do. */
    void wake() {
        work.release();
    }

    void stop() {
        stopped = true;
        wake();
    }

    Optional<String> trouble() {
        return trouble.get();
    }

    @Override
    public void run() {
        Duration wait = FIRST_WAIT;
        try {
            while (!stopped) {
                try {
                    connect();
                    work.drainPermits();
                    Backlog.Batch batch = backlog.oldest(BATCH);
                    if (batch.isEmpty()) {
                        work.tryAcquire(1, TimeUnit.SECONDS);
                    } else {
                        long began = System.nanoTime();
                        deliver(batch);
                        if (batch.records().size() < BATCH) {
                            rest(began);
                        }
                    }
                    wait = FIRST_WAIT;
                } catch (RuntimeException e) {
                    if (stopped || e instanceof InterruptException) {
                        return;
                    }
                    failed(e);
                    Thread.sleep(wait.toMillis());
                    wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) < 0 ? wait.multipliedBy(2) : LONGEST_WAIT;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            Thread.interrupted(); // the client could not be closed otherwise
            client.ifPresent(Client::close);
        }
    }

    private void rest(long began) throws InterruptedException {
        long left = BETWEEN_BATCHES.toNanos() - (System.nanoTime() - began);
        if (left > 0 && !stopped) {
            TimeUnit.NANOSECONDS.sleep(left);
        }
    }

    private void failed(RuntimeException e) {
        String why = String.valueOf(e.getMessage());
        if (!trouble.getAndSet(Optional.of(why)).equals(Optional.of(why))) {
            LOG.warn("records wait ({} so far): {}", backlog.waiting(), why);
        }
        client.ifPresent(Client::close);
        client = Optional.empty();
    }

    private void connect() {
        if (client.isEmpty()) {
            outlet.check().run();
            client = Optional.of(
                    new Client(outlet.producers().get(), outlet.serializers().get()));
            trouble.set(Optional.empty());
            LOG.info("the broker answers; {} records wait", backlog.waiting());
        }
    }

    /** Sends all of a batch, waits for it, and lets go what has arrived without a gap before it. */
    private void deliver(Backlog.Batch batch) throws InterruptedException {
        Client to = client.orElseThrow();
        List<Optional<Future<RecordMetadata>>> sent = new ArrayList<>();
        for (byte[] record : batch.records()) {
            sent.add(sendable(record, to.serializer).map(ready -> to.producer.send(ready, clock.listen())));
        }
        for (int i = 0; i < sent.size(); i++) {
            try {
                if (sent.get(i).isPresent()) {
                    await(sent.get(i).get());
                    written.increment();
                }
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RecordTooLargeException) {
                    unreadable.increment();
                    LOG.error(
                            "a record is dropped, since the broker will never take it: {}",
                            e.getCause().getMessage());
                } else {
                    backlog.deliveredBefore(batch.first() + i);
                    throw new IllegalStateException(
                            "a record could not be written: " + e.getCause().getMessage(), e);
                }
            }
        }
        backlog.deliveredBefore(batch.first() + sent.size());
        trouble.set(Optional.empty());
    }

    /** The client tries until it is closed; a broker that stands still is trouble meanwhile. */
    private void await(Future<RecordMetadata> sent) throws InterruptedException, ExecutionException {
        while (true) {
            try {
                sent.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                String why = "the broker has not answered for more than %d s".formatted(PATIENCE.toSeconds());
                if (!trouble.getAndSet(Optional.of(why)).equals(Optional.of(why))) {
                    LOG.warn("records wait ({} so far): {}", backlog.waiting(), why);
                }
            }
        }
    }

    /** As the broker wants it; empty for one that nobody can read, which is dropped. */
    private Optional<ProducerRecord<byte[], byte[]>> sendable(byte[] bytes, Serializer<GenericRecord> serializer) {
        Waiting waiting;
        Topic<?> topic;
        Optional<GenericRecord> record;
        try {
            waiting = Waiting.of(bytes);
            topic = topic(waiting.topic());
            record = isOfNow(waiting, topic, serializer)
                    ? Optional.empty()
                    : Optional.of(AvroBytes.read(
                            waiting.body(), schemas.byFingerprint(waiting.schema()), Codecs.schema(topic)));
        } catch (IOException | RuntimeException e) {
            unreadable.increment();
            LOG.error("a record that waited cannot be read and is dropped: {}", e.toString());
            return Optional.empty();
        }
        var headers = new RecordHeaders();
        new CloudEventHeaders(
                        waiting.id(), outlet.source(), WireSchemas.NAMESPACE + "." + topic.recordName(), waiting.at())
                .applyTo(headers);
        if (!waiting.remarks().isEmpty()) {
            headers.add(REMARKS, waiting.remarks().getBytes(StandardCharsets.UTF_8));
        }
        String to = outlet.topics().name(topic);
        byte[] value = record.isPresent()
                ? serializer.serialize(to, headers, record.get())
                : framed((AvroSerializer) serializer, to, topic, waiting.body());
        return Optional.of(
                new ProducerRecord<>(to, null, null, waiting.key().getBytes(StandardCharsets.UTF_8), value, headers));
    }

    private static Topic<?> topic(String name) throws IOException {
        return TopicCatalogue.ALL.stream()
                .filter(known -> known.suffix().equals(name))
                .findFirst()
                .orElseThrow(() -> new IOException("there is no topic " + name));
    }

    /** Whether it is written with this version's schema, by whose bytes our own serializer can go as they are. */
    private boolean isOfNow(Waiting waiting, Topic<?> topic, Serializer<GenericRecord> serializer) {
        return serializer instanceof AvroSerializer
                && waiting.schema()
                        == fingerprints.computeIfAbsent(topic, of -> SchemaShelf.fingerprint(Codecs.schema(of)));
    }

    /** Where the registry's newest schema is another one, it is read after all. */
    private static byte[] framed(AvroSerializer serializer, String to, Topic<?> topic, byte[] body) {
        Schema schema = Codecs.schema(topic);
        return serializer.framed(to, schema, body).orElseGet(() -> {
            try {
                return serializer.serialize(to, AvroBytes.read(body, schema, schema));
            } catch (IOException e) {
                throw new SerializationException("a record that waited cannot be read: " + e.getMessage(), e);
            }
        });
    }
}
