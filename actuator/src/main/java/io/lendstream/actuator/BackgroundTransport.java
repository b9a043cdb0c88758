package io.lendstream.actuator;

import io.lendstream.actuator.standby.Active;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes on background threads. With the wall clock the actuator continues and starts without a broker, and
 * its reports wait in an {@link ReportOutbox}.
 */
final class BackgroundTransport implements RecordTransport {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTransport.class);
    private static final int MOST_CALLS = 10_000;
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration ENDING = Duration.ofMillis(700);
    private static final Duration CLOSING = Duration.ofSeconds(5);

    private final String actuator;
    private final Clients clients;
    private final Duration patience;
    private final Writers writers;
    private final ReportOutbox outbox;
    private final BlockingQueue<Runnable> calls = new ArrayBlockingQueue<>(MOST_CALLS);

    /**
     * How the writers of reports are named.
     *
     * @param prefix prefix of transactional IDs
     * @param isNamed whether the ID is known after a restart: from a state file, or by the actuator's name
     * @param active whether this instance may write
     */
    record Writers(String prefix, boolean isNamed, Active active) {
        /** The name after the prefix; empty for writers without transactions. */
        private Optional<String> name(ActuatorState state) {
            if (active.isFenced()) {
                return Optional.of(state.actuator()); // all instances have one name, so that each fences the others
            }
            return isNamed
                    ? Optional.of(state.alone()
                            .map(ActuatorState.Alone::writer)
                            .orElseGet(() -> UUID.randomUUID().toString()))
                    : Optional.empty();
        }
    }

    private Map<String, Long> decisions = Map.of();
    private Optional<String> writer = Optional.empty();
    private boolean joined;
    private boolean startedAlone;
    private @Nullable TopicPoller intake;
    private @Nullable ReportSender delivery;
    private @Nullable Thread reading;
    private @Nullable Thread sending;

    /**
     * Creates a transport that has not started.
     *
     * @param patience how long a start from saved state waits for a broker
     */
    BackgroundTransport(String actuator, Clients clients, Duration patience, Writers writers, ReportOutbox outbox) {
        this.actuator = actuator;
        this.clients = clients;
        this.patience = patience;
        this.writers = writers;
        this.outbox = outbox;
    }

    @Override
    public void start(ActuatorState state, Routes routes, BooleanSupplier stopped) {
        outbox.restore(state.outbox());
        decisions = new TreeMap<>(state.decisions());
        writer = writers.name(state);
        var incoming =
                new TopicPoller(clients, actuator, watched(routes), outbox, decisions, calls, next -> decisions = next);
        var outgoing = new ReportSender(
                clients, actuator, outbox, writer.map(name -> writers.prefix() + name), writers.active());
        intake = incoming;
        delivery = outgoing;
        reading = thread("actuator-intake", incoming);
        sending = thread("actuator-delivery", outgoing);
        while (!joined && !stopped.getAsBoolean()) {
            poll(LOOK);
            if (!state.decisions().isEmpty() && incoming.idle().compareTo(patience) > 0) {
                LOG.warn(
                        "starting without the broker at {}, from saved state; leases, notices and deadlines are enforced and reports are queued: {}",
                        clients.where(),
                        incoming.trouble().orElse("the broker does not answer"));
                startedAlone = true;
                return;
            }
        }
    }

    /** The same, by which it is known that the topics are read. */
    private Routes watched(Routes routes) {
        return new Routes() {
            @Override
            public void on(RecordReader reader, Executor to) {
                routes.on(reader, to);
            }

            @Override
            public void joined(List<ActuationReport> reportsSince) {
                joined = true;
                if (startedAlone) {
                    LOG.info(
                            "the broker at {} answers, and the topics are read; queued reports are sent",
                            clients.where());
                }
                routes.joined(reportsSince);
            }
        };
    }

    private static Thread thread(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Override
    public void poll(Duration longest) {
        try {
            Runnable call = calls.poll(longest.toNanos(), TimeUnit.NANOSECONDS);
            for (int done = 0; call != null && done < MOST_CALLS; done++) {
                call.run();
                call = calls.poll();
            }
            if (call != null) {
                call.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Optional.ofNullable(intake)
                .flatMap(TopicPoller::failure)
                .or(() -> Optional.ofNullable(delivery).flatMap(ReportSender::failure))
                .ifPresent(failure -> {
                    throw failure;
                });
    }

    @Override
    public void publish(List<ActuationReport> reports) {
        outbox.add(reports);
    }

    @Override
    public void publish(TrainingProgress progress) {
        outbox.add(progress);
    }

    @Override
    public void publish(ActuatorDescription description) {
        outbox.add(description);
    }

    @Override
    public void release() {
        outbox.release();
    }

    @Override
    public Optional<String> trouble() {
        return Optional.ofNullable(intake)
                .flatMap(TopicPoller::trouble)
                .or(() -> Optional.ofNullable(delivery).flatMap(ReportSender::trouble));
    }

    @Override
    public Map<String, Long> decisions() {
        return new TreeMap<>(decisions);
    }

    @Override
    public ReportOutbox.Contents unsent() {
        return outbox.contents();
    }

    @Override
    public Optional<String> writer() {
        return writer;
    }

    @Override
    public boolean finish(Duration longest) {
        try {
            return trouble().isEmpty() ? outbox.awaitEmpty(longest) : outbox.isEmpty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        Optional.ofNullable(intake).ifPresent(TopicPoller::stop);
        Optional.ofNullable(delivery).ifPresent(ReportSender::stop);
        await(ENDING); // a client that is interrupted while it closes logs an error
        for (Thread each : new Thread[] {reading, sending}) {
            if (each != null) {
                each.interrupt();
            }
        }
        await(CLOSING);
    }

    private void await(Duration longest) {
        for (Thread each : new Thread[] {reading, sending}) {
            if (each != null) {
                try {
                    each.join(longest.toMillis());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
