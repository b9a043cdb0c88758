package io.lendstream.scheduler;

import io.lendstream.service.health.Health;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.GroupState;
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
    private static final int MOST_HOSTS = 10;
    private static final int PATIENCE_MILLIS = 5_000;

    private final Supplier<Group> group;
    private final Duration lookEvery;
    private final BooleanSupplier closing;
    private final Health health;
    private final AtomicInteger threads = new AtomicInteger();

    /** Who has the group. */
    enum Holder {
        OTHERS,
        NOBODY,
        /** Its members are agreeing on who does what, and nobody is told how. */
        UNCLEAR
    }

    /** The group as it was when it was looked at. */
    record Group(Holder holder, String text) {}

    /**
     * An instance that may have to stand by.
     *
     * @param group looks at the group
     * @param closing whether the process is about to end
     */
    Standby(Supplier<Group> group, Duration lookEvery, BooleanSupplier closing, Health health, MeterRegistry metrics) {
        this.group = group;
        this.lookEvery = lookEvery;
        this.closing = closing;
        this.health = health;
        metrics.gauge("lendstream.standby.threads", threads);
    }

    /**
     * Waits until the group may be joined, or the process is to end.
     *
     * @return false where nobody has it, so that it remains unsaid why it could not be joined
     */
    boolean await() {
        boolean mayGoOn = pause();
        Group now = group.get();
        if (now.holder() != Holder.OTHERS) {
            log.info("the broker refused this instance; {}", now.text());
            return now.holder() == Holder.UNCLEAR;
        }
        threads.incrementAndGet();
        health.ready();
        String said = "";
        for (long looks = 1; mayGoOn && now.holder() == Holder.OTHERS && !closing.getAsBoolean(); looks++) {
            if (!now.text().equals(said) || looks % LOOKS_BETWEEN_WORDS == 0) {
                log.warn("{}; this one stands by, and takes over once the last of them has stopped", now.text());
                said = now.text();
            }
            mayGoOn = pause();
            now = group.get();
        }
        health.notReady(JOINING);
        threads.decrementAndGet();
        return true;
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

    /** Looks at a group. Where that cannot be done nobody has it: an attempt to join it says what is wrong. */
    static Group look(Admin admin, String name, String assignor) {
        try {
            var patience = new DescribeConsumerGroupsOptions().timeoutMs(PATIENCE_MILLIS);
            var described = Objects.requireNonNull(admin.describeConsumerGroups(List.of(name), patience)
                    .describedGroups()
                    .get(name));
            return group(described.get(), assignor);
        } catch (ExecutionException e) {
            return new Group(Holder.NOBODY, "group %s cannot be looked at: %s".formatted(name, e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Group(Holder.NOBODY, "interrupted");
        }
    }

    /** What a group is to an instance with an assignor. */
    static Group group(ConsumerGroupDescription found, String assignor) {
        String name = found.groupId();
        boolean isFree = found.groupState() == GroupState.EMPTY || found.groupState() == GroupState.DEAD;
        if (isFree || found.partitionAssignor().equals(assignor)) {
            return new Group(Holder.NOBODY, "nobody of another topology is in group " + name);
        }
        if (found.partitionAssignor().isEmpty()) {
            return new Group(Holder.UNCLEAR, "group %s is %s".formatted(name, found.groupState()));
        }
        String hosts = found.members().stream()
                .map(MemberDescription::host)
                .distinct()
                .sorted()
                .limit(MOST_HOSTS)
                .collect(Collectors.joining(", "));
        return new Group(
                Holder.OTHERS,
                "group %s has %d members of another topology ('%s', ours is '%s') at %s"
                        .formatted(name, found.members().size(), found.partitionAssignor(), assignor, hosts));
    }
}
