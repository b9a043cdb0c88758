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
 * What happens when a stream's thread ends with an error: where others have the group, it stands by; after that, and after what may
 * pass, a new thread takes its place and begins at the last commit; after anything else, or too much of it, the process ends, so
 * that whoever runs it hears of it.
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
            log.error("the scheduler ends: an error that another try cannot mend", failure);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        if (replacements.size() >= MOST_REPLACEMENTS) {
            log.error(
                    "the scheduler ends: its threads failed more than {} times within {}",
                    MOST_REPLACEMENTS,
                    WITHIN,
                    failure);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        }
        replacements.addLast(now);
        log.warn("a thread of the scheduler failed; another takes its place", failure);
        return StreamThreadExceptionResponse.REPLACE_THREAD;
    }

    /**
     * Who had the group may just have left it. A dead letter that a broker refuses as too large aborts the transaction; the next
     * attempt sends it without its value. A process that stood still for longer than its transaction may last finds that the broker
     * has ended it: most often it is fenced then, which Kafka Streams mends itself, but a commit that comes just at that time is
     * called invalid. Nothing of that transaction counts, and a new thread begins one of its own.
     */
    private static boolean mayPass(Throwable failure) {
        return isRefused(failure)
                || causes(failure)
                        .anyMatch(at -> at instanceof RegistryUnavailableException
                                || at instanceof RetriableException
                                || at instanceof RecordTooLargeException
                                || at instanceof InvalidTxnStateException);
    }

    /** Whether the broker has let an instance into no group, as others are there. */
    private static boolean isRefused(Throwable failure) {
        return causes(failure).anyMatch(InconsistentGroupProtocolException.class::isInstance);
    }

    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
    }
}
