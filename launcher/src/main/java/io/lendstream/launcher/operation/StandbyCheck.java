package io.lendstream.launcher.operation;

import io.lendstream.launcher.cluster.Cluster;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/** Checks whether an actuator with standby instances has one that can take over. */
final class StandbyCheck {
    private static final String CHECK = "standby";

    private final Cluster cluster;
    private final String actuator;
    private final String group;

    /** @param actuator the name of the actuator */
    StandbyCheck(Cluster cluster, String actuator) {
        this.cluster = cluster;
        this.actuator = actuator;
        this.group = cluster.topics().prefix() + "actuator-" + actuator;
    }

    Finding finding() {
        try (Admin admin = Admin.create(cluster.kafka().admin())) {
            ConsumerGroupDescription found = Objects.requireNonNull(admin.describeConsumerGroups(List.of(group))
                            .describedGroups()
                            .get(group))
                    .get(cluster.patience().toMillis(), TimeUnit.MILLISECONDS);
            return of(actuator, List.copyOf(found.members()));
        } catch (ExecutionException e) {
            return failed(Optional.ofNullable(e.getCause()).orElse(e));
        } catch (TimeoutException | KafkaException e) {
            return failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(e);
        }
    }

    /** Judges the members of the group: the active one has a partition. */
    static Finding of(String actuator, List<MemberDescription> members) {
        String active = members.stream()
                .filter(member -> !member.assignment().topicPartitions().isEmpty())
                .map(MemberDescription::host)
                .collect(Collectors.joining(", "));
        String standby = members.stream()
                .filter(member -> member.assignment().topicPartitions().isEmpty())
                .map(MemberDescription::host)
                .sorted()
                .collect(Collectors.joining(", "));
        if (active.isEmpty()) {
            return Finding.fail(
                    CHECK,
                    "no instance of actuator %s is active, %d on standby".formatted(actuator, members.size()),
                    "start an instance; after the end of another one wait 15 s");
        }
        return standby.isEmpty()
                ? Finding.warn(
                        CHECK,
                        "actuator %s is active at %s, and no instance is on standby".formatted(actuator, active),
                        "start a second instance on another machine")
                : Finding.ok(
                        CHECK, "actuator %s is active at %s, on standby at %s".formatted(actuator, active, standby));
    }

    private Finding failed(Throwable e) {
        if (e instanceof GroupIdNotFoundException) {
            return of(actuator, List.of());
        }
        if (e instanceof GroupAuthorizationException) {
            return Finding.fail(
                    CHECK, "this user may not read group " + group, "allow it as in deploy/acl/operator.acl");
        }
        return Finding.warn(CHECK, "group %s cannot be read: %s".formatted(group, e), "check the broker");
    }
}
