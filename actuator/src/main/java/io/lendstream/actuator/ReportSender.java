package io.lendstream.actuator;

import io.lendstream.actuator.standby.Active;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the outbox in order, on a thread of its own, without a time limit.
 *
 * <p>Each report is on the topic exactly once. A batch is a transaction. A new writer with the same transactional ID,
 * even after a restart, fences the previous one, so nothing of the previous writer can arrive later. The sender then
 * reads the topic to find which reports are there, and sends only the others.
 *
 * <p>An instance with standby instances sends only while it is the active one, and the broker refuses its transactions
 * afterwards.
 */
final class ReportSender implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ReportSender.class);
    private static final int MOST_AT_ONCE = 500;
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Clients clients;
    private final String actuator;
    private final ReportOutbox outbox;
    private final Active active;
    private Optional<String> transactionalId;
    private @Nullable RecordWriter writer;
    private boolean singly;
    private volatile Optional<String> trouble = Optional.empty();
    private volatile Optional<RuntimeException> failure = Optional.empty();
    private volatile boolean stopped;

    /** @param transactionalId a transactional ID that no other process uses; empty for none */
    ReportSender(
            Clients clients, String actuator, ReportOutbox outbox, Optional<String> transactionalId, Active active) {
        this.clients = clients;
        this.actuator = actuator;
        this.outbox = outbox;
        this.transactionalId = transactionalId;
        this.active = active;
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                round(LOOK);
            } catch (InterruptedException | InterruptException e) {
                LOG.debug("woken up", e);
            } catch (Error e) { // uncaught, it would end the sending silently
                failure = Optional.of(new IllegalStateException("sending reports stopped: " + e, e));
                break;
            }
        }
        closeWriter();
    }

    /**
     * Sends a batch, if there is one.
     *
     * @param patience how long to wait for a batch
     */
    void round(Duration patience) throws InterruptedException {
        if (!outbox.awaitSome(patience)) {
            return;
        }
        if (!active.mayStart()) {
            TimeUnit.NANOSECONDS.sleep(patience.toNanos());
            return;
        }
        try {
            RecordWriter open = writer == null ? open() : writer;
            ReportOutbox.Batch batch = outbox.next(singly ? 1 : MOST_AT_ONCE);
            if (!batch.isEmpty()) {
                send(open, batch);
                outbox.delivered(open.positions());
                singly = false;
            }
            if (trouble.isPresent()) {
                LOG.info("reports are delivered again");
                trouble = Optional.empty();
            }
        } catch (InterruptException e) {
            outbox.failed();
            closeWriter();
            throw e;
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    private RecordWriter open() {
        clients.check();
        RecordWriter opened;
        try {
            opened = clients.writer(transactionalId);
        } catch (TransactionalIdAuthorizationException e) {
            if (active.isFenced()) {
                throw e;
            }
            LOG.warn(
                    "{} is not authorized for the transactional ID {}: a report may be duplicated if the actuator restarts while the broker is away. Allow it as in deploy/acl/actuator.acl.",
                    actuator,
                    transactionalId.orElse(""));
            transactionalId = Optional.empty();
            opened = clients.writer(transactionalId);
        }
        writer = opened;
        try (RecordReader reports = clients.reportReader()) {
            OwnReports own = OwnReports.read(reports, actuator, outbox.positions(), () -> stopped);
            if (!stopped) {
                outbox.reconcile(own.reports(), own.end());
            }
        }
        return opened;
    }

    private void send(RecordWriter open, ReportOutbox.Batch batch) {
        Runnable writes = () -> {
            batch.reports()
                    .forEach(report -> open.write(
                            TopicCatalogue.ACTUATION_REPORTS, report.domain().value(), report));
            batch.progress()
                    .forEach(progress -> open.write(
                            TopicCatalogue.TRAINING_PROGRESS, progress.job().value(), progress));
            batch.descriptions()
                    .forEach(description -> open.write(
                            TopicCatalogue.ACTUATORS,
                            description.domain() + "/" + description.actuator(),
                            description));
        };
        if (transactionalId.isPresent()) {
            open.inTransaction(() -> {
                writes.run();
                active.fence(open.client());
            });
        } else {
            writes.run();
            open.flush();
        }
    }

    private void failed(RuntimeException e) throws InterruptedException {
        closeWriter();
        if (isTooLarge(e) && singly) {
            LOG.error("a report is larger than the broker accepts and is dropped: {}", e.getMessage());
            outbox.refused();
            return;
        }
        if (isForbidden(e)) {
            LOG.warn(
                    "{} may not write topic {}: the scheduler does not learn its nodes and abilities. Allow it as in deploy/acl/actuator.acl, then restart it.",
                    actuator,
                    TopicCatalogue.ACTUATORS);
            outbox.failedWithoutDescriptions();
            return;
        }
        outbox.failed();
        singly = isTooLarge(e);
        if (trouble.isEmpty()) {
            LOG.warn("cannot deliver reports, {} are queued: {}", outbox.size(), e.getMessage());
            LOG.debug("not delivered", e);
        }
        trouble = Optional.of("reports are not delivered: " + e.getMessage());
        if (!singly) {
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
    }

    private static boolean isTooLarge(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof RecordTooLargeException) {
                return true;
            }
        }
        return false;
    }

    /** Whether the broker refuses descriptions; reports must not wait for them. */
    private static boolean isForbidden(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof TopicAuthorizationException refused
                    && refused.unauthorizedTopics().stream()
                            .anyMatch(topic -> topic.endsWith(TopicCatalogue.ACTUATORS.suffix()))) {
                return true;
            }
        }
        return false;
    }

    private void closeWriter() {
        RecordWriter open = writer;
        writer = null;
        if (open != null) {
            try {
                open.abandon();
            } catch (KafkaException e) {
                LOG.debug("cannot close a writer", e);
            }
        }
    }

    /** Why nothing is sent; empty without a problem. */
    Optional<String> trouble() {
        return trouble;
    }

    /** The error that ended the sending. */
    Optional<RuntimeException> failure() {
        return failure;
    }

    void stop() {
        stopped = true;
    }
}
