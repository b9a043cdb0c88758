package io.lendstream.scheduler;

import io.lendstream.schemas.registry.RegistryUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the error that ended a stream's thread. If another topology is in the group, the instance goes on standby.
 * After that, and after a temporary error, a new thread starts at the last commit. After any other error, or too many
 * errors, the process ends, so that its supervisor notices.
 */
final class UncaughtErrors implements StreamsUncaughtExceptionHandler {
    private static final Logger log = LoggerFactory.getLogger(UncaughtErrors.class);
    private static final int MOST_REPLACEMENTS = 20;
    private static final Duration WITHIN = Duration.ofHours(1);

    private final InstantSource clock;
    private final Standby standby;
    private final Deque<Instant> replacements = new ArrayDeque<>();

    UncaughtErrors(InstantSource clock, Standby standby) {
        this.clock = clock;
        this.standby = standby;
    }

    @Override
    public StreamThreadExceptionResponse handle(Throwable failure) {
        if (isRefused(failure) && standby.await()) {
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        }
        return judge(failure);
    }

    private synchronized StreamThreadExceptionResponse judge(Throwable failure) {
        Instant now = clock.instant();
        while (!replacements.isEmpty() && replacements.peekFirst().isBefore(now.minus(WITHIN))) {
            replacements.removeFirst();
        }
        if (!mayPass(failure)) {
            log.error("the scheduler stops: an error that a retry cannot repair", failure);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        if (replacements.size() >= MOST_REPLACEMENTS) {
            log.error(
                    "the scheduler stops: its threads failed more than {} times within {}",
                    MOST_REPLACEMENTS,
                    WITHIN,
                    failure);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        replacements.addLast(now);
        log.warn("a stream thread failed and is replaced", failure);
        return StreamThreadExceptionResponse.REPLACE_THREAD;
    }

    /**
     * Whether a retry may succeed. A standby may find that the others have just left the group. A dead letter that a
     * broker refuses as too large aborts the transaction; the next attempt sends it without its value. After a pause
     * longer than its transaction timeout, a process is usually fenced, which Kafka Streams handles itself; a commit
     * at that moment is reported as invalid instead. The broker has then discarded the transaction, and a new thread
     * starts its own.
     */
    private static boolean mayPass(Throwable failure) {
        return isRefused(failure)
                || causes(failure)
                        .anyMatch(at -> at instanceof RegistryUnavailableException
                                || at instanceof RetriableException
                                || at instanceof RecordTooLargeException
                                || at instanceof InvalidTxnStateException);
    }

    /** Whether the broker refused an instance because of other instances in its group. */
    private static boolean isRefused(Throwable failure) {
        return causes(failure).anyMatch(InconsistentGroupProtocolException.class::isInstance);
    }

    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
    }
}
