package io.lendstream.agent.publish;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends a backlog to the broker, oldest records first, in batches; after a failure it restarts where it failed. */
final class BacklogSender implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(BacklogSender.class);
    private static final int BATCH = 500;
    /** A request to the broker costs as much as many records, so records that arrive within this time share one. */
    private static final Duration BETWEEN_BATCHES = Duration.ofMillis(250);

    private static final Duration FIRST_WAIT = Duration.ofMillis(250);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    private final Backlog backlog;
    private final Outgoing outgoing;
    private final BrokerTarget outlet;
    private final BrokerClock clock;
    private final Counter written;
    private final Counter unreadable;
    private final Semaphore work = new Semaphore(0);
    /** Changed only by the sending thread. */
    private volatile Optional<String> trouble = Optional.of("the broker has not answered yet");

    private volatile Optional<String> ended = Optional.empty();
    private final Object filesInHand = new Object();
    private Optional<Client> client = Optional.empty();
    private volatile boolean stopped;

    BacklogSender(Backlog backlog, SchemaShelf schemas, BrokerTarget outlet, MeterRegistry metrics) {
        this.backlog = backlog;
        this.outgoing = new Outgoing(schemas, outlet.topics(), outlet.source());
        this.outlet = outlet;
        this.clock = new BrokerClock(metrics);
        this.written = metrics.counter("lendstream.records.written");
        this.unreadable = metrics.counter("lendstream.records.unreadable");
    }

    private record Client(Producer<byte[], byte[]> producer, Serializer<GenericRecord> serializer) {
        /** Closes a client; a failure is only logged, because the client is unused afterwards. */
        void close() {
            try (serializer) {
                producer.close(Duration.ZERO);
            } catch (RuntimeException e) {
                LOG.warn("cannot close the Kafka client", e);
            }
        }
    }

    /** Wakes the sender, because there may be records. */
    void wake() {
        work.release();
    }

    /** Stops the sender, even while it waits for the broker, but never while it uses the backlog's files. */
    void stop(Thread thread) {
        stopped = true;
        wake();
        synchronized (filesInHand) {
            thread.interrupt();
        }
    }

    /** An interrupt closes the file in use permanently, so none may arrive before the work is done. */
    private <T> T undisturbed(Supplier<T> work) {
        synchronized (filesInHand) {
            boolean interrupted = Thread.interrupted();
            try {
                return work.get();
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private void deliveredBefore(long number) {
        undisturbed(() -> {
            backlog.deliveredBefore(number);
            return number;
        });
    }

    Optional<String> trouble() {
        return trouble;
    }

    /** Why nothing will be delivered until a restart; empty unless the sender ended unexpectedly. */
    Optional<String> ended() {
        return ended;
    }

    @Override
    public void run() {
        Duration wait = FIRST_WAIT;
        try {
            while (!stopped) {
                try {
                    deliverOldest();
                    wait = FIRST_WAIT;
                } catch (RuntimeException e) {
                    if (stopped) {
                        return;
                    }
                    if (e instanceof InterruptException) {
                        throw e;
                    }
                    failed(e);
                    Thread.sleep(wait.toMillis());
                    wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) < 0 ? wait.multipliedBy(2) : LONGEST_WAIT;
                }
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            if (!stopped) {
                ended = Optional.of("delivery stopped unexpectedly: " + e);
                LOG.error("delivery stopped unexpectedly; restart the agent", e);
            }
        } finally {
            Thread.interrupted(); // otherwise the client could not be closed
            client.ifPresent(Client::close);
        }
    }

    /** Delivers the oldest records, or waits a moment for some. */
    private void deliverOldest() throws InterruptedException {
        connect();
        work.drainPermits();
        Backlog.Batch batch = undisturbed(() -> backlog.oldest(BATCH));
        if (batch.isEmpty()) {
            work.tryAcquire(1, TimeUnit.SECONDS);
            return;
        }
        long began = System.nanoTime();
        deliver(batch);
        if (batch.records().size() < BATCH) {
            rest(began);
        }
    }

    private void rest(long began) throws InterruptedException {
        long left = BETWEEN_BATCHES.toNanos() - (System.nanoTime() - began);
        if (left > 0 && !stopped) {
            TimeUnit.NANOSECONDS.sleep(left);
        }
    }

    private void failed(RuntimeException e) {
        waits(String.valueOf(e.getMessage()));
        client.ifPresent(Client::close);
        client = Optional.empty();
    }

    /** Logs the reason, unless it is the same as before. */
    private void waits(String why) {
        Optional<String> before = trouble;
        trouble = Optional.of(why);
        if (!trouble.equals(before)) {
            LOG.warn("cannot deliver records ({} queued): {}", backlog.waiting(), why);
        }
    }

    private void connect() {
        if (client.isEmpty()) {
            outlet.check().run();
            Serializer<GenericRecord> serializer =
                    outlet.serializers().get(); // if this fails, there is nothing to close yet
            try {
                client = Optional.of(new Client(outlet.producers().get(), serializer));
            } catch (RuntimeException e) {
                serializer.close();
                throw e;
            }
            trouble = Optional.empty();
            LOG.info("the broker answers; {} records are queued", backlog.waiting());
        }
    }

    /** Sends a batch up to the first failure, waits for it, and removes the delivered records without a gap. */
    private void deliver(Backlog.Batch batch) throws InterruptedException {
        Client to = client.orElseThrow();
        var sent = new Sent();
        Optional<RuntimeException> stoppedBy = Optional.empty();
        for (byte[] record : batch.records()) {
            try {
                sent.add(send(record, to));
            } catch (RuntimeException e) {
                stoppedBy = Optional.of(e);
                break;
            }
            if (sent.hasFailed()) {
                break; // later records would be written before it
            }
        }
        for (int i = 0; i < sent.count(); i++) {
            if (sent.at(i).isEmpty()) {
                continue;
            }
            Sent.Answer answer = sent.at(i).get();
            try {
                await(answer.coming());
                written.increment();
            } catch (ExecutionException e) {
                String why = String.valueOf((e.getCause() == null ? e : e.getCause()).getMessage());
                if (Sent.isRefusal(e)) {
                    drop("the broker will never accept it for %s: %s".formatted(answer.topic(), why));
                } else {
                    deliveredBefore(batch.first() + i);
                    throw new IllegalStateException("a record could not be written: " + why, e);
                }
            }
        }
        deliveredBefore(batch.first() + sent.count());
        if (stoppedBy.isPresent()) {
            throw stoppedBy.get();
        }
        trouble = Optional.empty();
    }

    /** Empty for a dropped record. */
    private Optional<Sent.Answer> send(byte[] record, Client to) {
        ProducerRecord<byte[], byte[]> ready;
        try {
            ready = outgoing.of(record, to.serializer);
        } catch (UndeliverableException e) {
            drop(String.valueOf(e.getMessage()));
            return Optional.empty();
        }
        return Optional.of(new Sent.Answer(ready.topic(), to.producer.send(ready, clock.listen())));
    }

    private void drop(String why) {
        unreadable.increment();
        LOG.error("a record is dropped: {}", why);
    }

    /** The client retries until it is closed; meanwhile a broker that hangs is reported as a problem. */
    private void await(Future<RecordMetadata> sent) throws InterruptedException, ExecutionException {
        while (true) {
            try {
                sent.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                waits("the broker has not answered for more than %d s".formatted(PATIENCE.toSeconds()));
            }
        }
    }
}
