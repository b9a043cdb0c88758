package io.lendstream.scheduler;

import io.lendstream.core.decision.Reason;
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
 * Keeps an instance on standby while instances of another topology are in its group. It takes over once the last of
 * them has stopped, so an upgrade that changes the topology is an ordinary rolling update.
 *
 * <p>A standby instance counts as ready, like one that holds copies of the others' state, because a rolling update
 * waits for readiness before it stops the next instance.
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

    /** Who is in the group. */
    enum Holder {
        OTHERS,
        NONE,
        /** The group is rebalancing, so its members' assignors are not known. */
        UNCLEAR
    }

    /** The group at the time of the check. */
    record Group(Holder holder, String text) {}

    /**
     * Creates the standby of one instance.
     *
     * @param group reads the group's current members
     * @param closing whether the process is ending
     */
    Standby(Supplier<Group> group, Duration lookEvery, BooleanSupplier closing, Health health, MeterRegistry metrics) {
        this.group = group;
        this.lookEvery = lookEvery;
        this.closing = closing;
        this.health = health;
        metrics.gauge("lendstream.standby.threads", threads);
    }

    /**
     * Waits until the group may be joined, or the process ends.
     *
     * @return false if no other topology is in the group, so the reason for the refusal remains unknown
     */
    boolean await() {
        boolean mayGoOn = pause();
        Group now = group.get();
        if (now.holder() != Holder.OTHERS) {
            log.info("the broker did not let this instance join; {}", now.text());
            return now.holder() == Holder.UNCLEAR;
        }
        threads.incrementAndGet();
        health.ready();
        String said = "";
        for (long looks = 1; mayGoOn && now.holder() == Holder.OTHERS && !closing.getAsBoolean(); looks++) {
            if (!now.text().equals(said) || looks % LOOKS_BETWEEN_WORDS == 0) {
                log.warn(
                        "{}; this instance stays on standby and takes over once the last of them has stopped",
                        now.text());
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

    /** Reads a group. If that fails, the group counts as empty: an attempt to join it shows the error. */
    static Group look(Admin admin, String name, String assignor) {
        try {
            var patience = new DescribeConsumerGroupsOptions().timeoutMs(PATIENCE_MILLIS);
            var described = Objects.requireNonNull(admin.describeConsumerGroups(List.of(name), patience)
                    .describedGroups()
                    .get(name));
            return group(described.get(), assignor);
        } catch (ExecutionException e) {
            return new Group(Holder.NONE, "group %s cannot be read: %s".formatted(name, e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Group(Holder.NONE, "interrupted");
        }
    }

    /** Classifies a group for an instance with an assignor. */
    static Group group(ConsumerGroupDescription found, String assignor) {
        String name = found.groupId();
        boolean isFree = found.groupState() == GroupState.EMPTY || found.groupState() == GroupState.DEAD;
        if (isFree || found.partitionAssignor().equals(assignor)) {
            return new Group(Holder.NONE, "no instance of another topology is in group " + name);
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
                "group %s has %s of another topology ('%s', this instance has '%s') at %s"
                        .formatted(
                                name,
                                Reason.counted(found.members().size(), "member"),
                                found.partitionAssignor(),
                                assignor,
                                hosts));
    }
}
