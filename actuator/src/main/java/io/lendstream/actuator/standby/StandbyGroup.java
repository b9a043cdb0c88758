package io.lendstream.actuator.standby;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This instance as a member of the consumer group of its actuator's instances. The member that has partition 0 is the
 * active one. A thread of its own keeps the membership.
 *
 * <p>An active instance renews its claim every second, by a commit that the broker accepts only from a present member.
 * The broker then keeps the member for at least the session time, counted from before the commit. So an instance that
 * cannot renew knows by its own clock when another one may become active, and stops starting tenants before.
 */
public final class StandbyGroup implements Runnable, ConsumerRebalanceListener, AutoCloseable {
    /** How long the broker waits for a member, unless the settings say otherwise. */
    public static final Duration SESSION = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(StandbyGroup.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration BETWEEN_RENEWALS = Duration.ofSeconds(1);
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(2);
    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration CLOSING = Duration.ofSeconds(3);
    /** The share of the session time for which a renewal counts. */
    private static final double TRUSTED = 0.7;

    private final Supplier<Consumer<byte[], byte[]>> clients;
    private final TopicPartition seat;
    private final Duration trusted;
    private final LongSupplier nanoTime;
    private final Thread thread = new Thread(this, "actuator-standby");
    private final String name = InstanceName.ofThisProcess();

    private boolean assigned;
    private boolean refused;
    private long triedAt;
    private long terms;
    private volatile @Nullable Term term;
    private volatile Optional<String> trouble = Optional.of("joining the group of this actuator's instances");
    private volatile Optional<RuntimeException> failure = Optional.empty();
    private volatile String active = "an unknown instance";
    private volatile boolean stopped;
    private volatile @Nullable Consumer<byte[], byte[]> open;

    /**
     * Creates a group that is not joined.
     *
     * @param clients creates consumers with a group and {@link OneActiveAssignor}
     * @param topic the topic that the group reads; no record of it is used
     * @param session the session time of the consumers
     */
    public StandbyGroup(
            Supplier<Consumer<byte[], byte[]>> clients, String topic, Duration session, LongSupplier nanoTime) {
        this.clients = clients;
        this.seat = new TopicPartition(topic, 0);
        this.trusted = Duration.ofNanos(Math.round(session.toNanos() * TRUSTED));
        this.nanoTime = nanoTime;
    }

    /** The time in which this instance is the active one; a later time is another term. */
    public final class Term implements Active {
        private final long number;
        private volatile long renewedAt;
        private volatile ConsumerGroupMetadata membership;

        private Term(long number, long renewedAt, ConsumerGroupMetadata membership) {
            this.number = number;
            this.renewedAt = renewedAt;
            this.membership = membership;
        }

        /** Whether the broker has not given the work to another instance, as far as this one knows. */
        public boolean holds() {
            return term == this;
        }

        @Override
        public boolean mayStart() {
            return holds() && nanoTime.getAsLong() - renewedAt < trusted.toNanos();
        }

        @Override
        public boolean isFenced() {
            return true;
        }

        /** The broker refuses the transaction of a member that is not in the group's present generation. */
        @Override
        public void fence(Producer<byte[], byte[]> transaction) {
            transaction.sendOffsetsToTransaction(claim(), membership);
        }

        @Override
        public String toString() {
            return "term " + number;
        }
    }

    /** Joins the group. */
    public void start() {
        thread.setDaemon(true);
        thread.start();
    }

    /** The present term; empty while this instance is on standby. */
    public Optional<Term> term() {
        return Optional.ofNullable(term);
    }

    /** The instance that was active at the last look, for people. */
    public String active() {
        return active;
    }

    /** Why this instance cannot take over now; empty if it can. */
    public Optional<String> trouble() {
        return trouble;
    }

    /** The error that ended the membership. */
    public Optional<RuntimeException> failure() {
        return failure;
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                member();
            } catch (WakeupException | InterruptException e) {
                LOG.debug("woken up", e);
            } catch (AuthorizationException e) {
                fail(e);
                return;
            } catch (KafkaException e) {
                again(e);
            } catch (RuntimeException e) {
                fail(e);
                return;
            } catch (Error e) { // uncaught, it would end the membership silently
                fail(new IllegalStateException("the membership of the group ended: " + e, e));
                return;
            }
        }
    }

    private void fail(RuntimeException e) {
        lose();
        failure = Optional.of(e);
    }

    private void again(KafkaException e) {
        lose();
        trouble = Optional.of("the group of this actuator's instances cannot be joined: " + e.getMessage());
        LOG.warn("left the group of this actuator's instances, and joins it again: {}", e.getMessage());
        pause();
    }

    private static void pause() {
        try {
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        } catch (InterruptedException interrupted) {
            LOG.debug("woken up", interrupted);
        }
    }

    private void member() {
        Consumer<byte[], byte[]> consumer = clients.get();
        open = consumer;
        try {
            consumer.subscribe(List.of(seat.topic()), this);
            triedAt = nanoTime.getAsLong() - BETWEEN_LOOKS.toNanos();
            while (!stopped) {
                round(consumer);
            }
        } finally {
            open = null;
            lose();
            consumer.close(CloseOptions.timeout(ANSWER)); // leaves the group, so that another one takes over at once
        }
    }

    /**
     * Handles what the broker says about the group, and renews the claim of an active instance if it is time.
     *
     * <p>Only the broker ends a term. An error, such as credentials that it does not take for a while, ends none: no
     * other instance may be able to join, and then this one must go on to enforce leases.
     */
    void round(Consumer<byte[], byte[]> consumer) {
        try {
            take(consumer);
            refused = false;
        } catch (WakeupException | InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            if (term == null) {
                throw e;
            }
            if (!refused) {
                LOG.warn("cannot renew the claim to be the active instance; will try again: {}", e.getMessage());
            }
            refused = true;
            pause();
        }
    }

    private void take(Consumer<byte[], byte[]> consumer) {
        consumer.poll(POLL);
        Term held = term;
        if (held != null) {
            held.membership = consumer.groupMetadata();
        }
        long now = nanoTime.getAsLong();
        boolean isNew = assigned && held == null;
        Duration between = assigned ? BETWEEN_RENEWALS : BETWEEN_LOOKS;
        if (!isNew && now - triedAt < between.toNanos()) {
            return;
        }
        triedAt = now;
        try {
            if (assigned) {
                renew(consumer, now);
            } else {
                look(consumer);
            }
        } catch (CommitFailedException e) {
            LOG.debug("not a member any more", e);
            if (held != null) {
                held.renewedAt = now - trusted.toNanos(); // as after a suspended machine, whose clock stood still
            }
        } catch (RebalanceInProgressException | RetriableException e) {
            LOG.debug("not renewed", e);
        }
    }

    private void renew(Consumer<byte[], byte[]> consumer, long asked) {
        consumer.commitSync(claim(), ANSWER);
        if (!assigned) {
            return; // lost by a callback meanwhile
        }
        Term held = term;
        if (held == null) {
            terms++;
            term = new Term(terms, asked, consumer.groupMetadata());
        } else {
            held.renewedAt = asked;
        }
        trouble = Optional.empty();
    }

    /** Reads who is active; while that works, this instance can take over. */
    private void look(Consumer<byte[], byte[]> consumer) {
        try {
            OffsetAndMetadata claimed = consumer.committed(Set.of(seat), ANSWER).get(seat);
            active = claimed == null || claimed.metadata().isEmpty() ? active : claimed.metadata();
            boolean isJoined = consumer.groupMetadata().generationId() >= 0;
            trouble = isJoined ? Optional.empty() : trouble;
        } catch (RetriableException e) {
            trouble = Optional.of("the broker does not answer, so this instance could not take over");
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> claim() {
        var claim = new HashMap<TopicPartition, OffsetAndMetadata>();
        claim.put(seat, new OffsetAndMetadata(0, name));
        return claim;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        Consumer<byte[], byte[]> consumer = open;
        if (partitions.contains(seat)) {
            assigned = true;
            if (consumer != null) {
                consumer.pause(List.of(seat)); // its records are of no use here
            }
        }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        if (partitions.contains(seat)) {
            lose();
        }
    }

    /** The default would do the same; this says that losing and giving back are no different here. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        onPartitionsRevoked(partitions);
    }

    private void lose() {
        assigned = false;
        term = null;
    }

    /** Leaves the group, so that another instance takes over at once. */
    @Override
    public void close() {
        stopped = true;
        Optional.ofNullable(open).ifPresent(Consumer::wakeup);
        try {
            thread.join(CLOSING.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
