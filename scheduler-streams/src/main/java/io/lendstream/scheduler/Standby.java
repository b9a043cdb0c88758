package io.lendstream.scheduler;

import io.lendstream.service.health.Health;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an instance does while others of another topology have its group: it stands by, and takes over once the last of them has
 * stopped. So an upgrade that changes the topology is rolled like any other.
 *
 * <p>An instance that stands by counts as ready, as one that holds copies of others' state does: whoever replaces instances one
 * by one waits for that before it stops the next.
 */
final class Standby {
    static final String JOINING = "partitions are being assigned or state is being restored";

    private static final Logger log = LoggerFactory.getLogger(Standby.class);
    private static final int LOOKS_BETWEEN_WORDS = 60;

    private final Supplier<Optional<String>> others;
    private final Duration lookEvery;
    private final BooleanSupplier closing;
    private final Health health;
    private final AtomicInteger threads = new AtomicInteger();

    /**
     * An instance that may have to stand by.
     *
     * @param others who has the group, if it is others
     * @param closing whether the process is about to end
     */
    Standby(
            Supplier<Optional<String>> others,
            Duration lookEvery,
            BooleanSupplier closing,
            Health health,
            MeterRegistry metrics) {
        this.others = others;
        this.lookEvery = lookEvery;
        this.closing = closing;
        this.health = health;
        metrics.gauge("lendstream.standby.threads", threads);
    }

    /** Whether a thread ended because others have the group. */
    static boolean isNeeded(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof InconsistentGroupProtocolException) {
                return true;
            }
        }
        return false;
    }

    /** Returns when the group may be joined, or the process is to end. */
    void await() {
        threads.incrementAndGet();
        health.ready();
        long looks = 0;
        for (Optional<String> who = others.get(); who.isPresent() && !closing.getAsBoolean(); who = others.get()) {
            if (looks++ % LOOKS_BETWEEN_WORDS == 0) {
                log.warn("{}; this one stands by, and takes over once the last of them has stopped", who.get());
            }
            if (!pause()) {
                break;
            }
        }
        health.notReady(JOINING);
        threads.decrementAndGet();
    }

    private boolean pause() {
        try {
            Thread.sleep(lookEvery.toMillis());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Who has a group, if it is members with another assignor. Nobody, where that cannot be learned: an attempt to join it says what
     * is wrong.
     */
    static Optional<String> others(Admin admin, String group, String assignor) {
        try {
            ConsumerGroupDescription found =
                    admin.describeConsumerGroups(List.of(group)).all().get().get(group);
            boolean isFree = found.groupState() == GroupState.EMPTY || found.groupState() == GroupState.DEAD;
            return isFree || found.partitionAssignor().equals(assignor)
                    ? Optional.empty()
                    : Optional.of(
                            "group %s has %d members with the assignor '%s', and ours is '%s', of another topology"
                                    .formatted(group, found.members().size(), found.partitionAssignor(), assignor));
        } catch (ExecutionException e) {
            log.info("group {} cannot be looked at", group, e);
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
