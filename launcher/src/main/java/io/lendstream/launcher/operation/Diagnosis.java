package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.operation.Finding.Level;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** Findings from measured facts, without access to a cluster. */
final class Diagnosis {
    static final String START_AGENTS = "start 'lendstream agent' on the nodes";

    private static final String NO_TELEMETRY = "no agent has written telemetry yet";
    private static final Duration AGENTS_SILENT = Duration.ofSeconds(60);
    private static final Duration TIME_STANDS = Duration.ofSeconds(60);
    private static final Duration SKEW_UNNOTICED = Duration.ofSeconds(1);
    private static final Duration SERVICE_SKEW_UNNOTICED = Duration.ofSeconds(5);
    private static final Duration TWINS_WITHIN = Duration.ofMinutes(10);
    private static final int LAG_UNNOTICED = 1_000;
    private static final int OLDEST_JAVA = 17;
    private static final int NAMED = 5;

    private Diagnosis() {}

    static Finding java(int feature, String version) {
        return feature >= OLDEST_JAVA
                ? Finding.ok("java", version)
                : Finding.fail("java", "%s, but must be %d or newer".formatted(version, OLDEST_JAVA), "install one");
    }

    static Finding topics(List<TopicState> topics) {
        List<TopicState> missing = topics.stream()
                .filter(topic -> topic.presence() == TopicState.Presence.MISSING)
                .toList();
        if (!missing.isEmpty()) {
            return Finding.fail(
                    "topics",
                    "%d of %d are missing: %s"
                            .formatted(missing.size(), topics.size(), some(missing, TopicState::name)),
                    "create them with 'lendstream topics create'");
        }
        List<TopicState> drifted =
                topics.stream().filter(topic -> !topic.drifts().isEmpty()).toList();
        return drifted.isEmpty()
                ? Finding.ok("topics", "all %d exist with the right settings".formatted(topics.size()))
                : Finding.warn(
                        "topics",
                        some(
                                drifted,
                                topic -> topic.name() + ": " + topic.drifts().get(0)),
                        "correct the settings with kafka-configs, or keep them on purpose");
    }

    /**
     * Whether records survive the loss of a broker.
     *
     * @param minInsync {@code min.insync.replicas} of the existing topics
     */
    static Finding replication(int brokers, List<TopicState> topics, Function<String, Integer> minInsync) {
        List<TopicState> there = topics.stream()
                .filter(topic -> topic.presence() != TopicState.Presence.MISSING)
                .toList();
        List<TopicState> blocked = there.stream()
                .filter(topic -> topic.replication() > 1 && minInsync.apply(topic.name()) >= topic.replication())
                .toList();
        if (!blocked.isEmpty()) {
            return Finding.warn(
                    "replication",
                    "writes to %s fail while one broker is down: min.insync.replicas is as large as the replication"
                            .formatted(some(blocked, TopicState::name)),
                    "set min.insync.replicas to one less");
        }
        List<TopicState> thin =
                there.stream().filter(topic -> topic.replication() < 3).toList();
        if (!thin.isEmpty()) {
            String found = "%d of %d topics have fewer than 3 copies, on %s"
                    .formatted(thin.size(), there.size(), Reason.counted(brokers, "broker"));
            return Finding.warn("replication", found, "enough for a trial; run 3 brokers if records must not be lost");
        }
        List<TopicState> weak = there.stream()
                .filter(topic -> minInsync.apply(topic.name()) < 2)
                .toList();
        return weak.isEmpty()
                ? Finding.ok("replication", "3 copies or more, on %s".formatted(Reason.counted(brokers, "broker")))
                : Finding.warn(
                        "replication",
                        "%s may lose records: min.insync.replicas is 1".formatted(some(weak, TopicState::name)),
                        "set min.insync.replicas to 2");
    }

    static Finding schemas(List<SubjectReport> subjects) {
        List<SubjectReport> bad =
                subjects.stream().filter(subject -> !subject.fine()).toList();
        if (!bad.isEmpty()) {
            return Finding.fail(
                    "schemas",
                    some(bad, subject -> subject.subject() + " " + String.join(", ", subject.messages())),
                    "run 'lendstream schemas check' for details");
        }
        long absent = subjects.stream()
                .filter(subject -> subject.status() == SubjectReport.Status.ABSENT)
                .count();
        return absent == 0
                ? Finding.ok("schemas", "all %d are registered and compatible".formatted(subjects.size()))
                : Finding.warn(
                        "schemas",
                        "%d of %d are not registered".formatted(absent, subjects.size()),
                        "register them with 'lendstream schemas register'");
    }

    /** @param ahead how far the broker's clock is ahead of this one */
    static Finding clock(Duration ahead, Duration mostSkew) {
        String found = "the broker's clock is %s %s this one"
                .formatted(Units.text(ahead.abs()), ahead.isNegative() ? "behind" : "ahead of");
        if (ahead.abs().compareTo(mostSkew) > 0) {
            return Finding.fail(
                    "clock",
                    found + ", more than max-clock-skew (%s)".formatted(Units.text(mostSkew)),
                    "synchronise both with NTP");
        }
        return ahead.abs().compareTo(SKEW_UNNOTICED) > 0
                ? Finding.warn("clock", found, "synchronise both with NTP")
                : Finding.ok("clock", found);
    }

    /**
     * Whether the writer of a topic is alive.
     *
     * @param none a sentence for the time before its first record
     * @param newest the time of the newest record; empty if there is none
     * @param silent the severity of silence
     */
    static Finding heard(
            String who,
            String none,
            Optional<Instant> newest,
            Instant now,
            Duration limit,
            Level silent,
            String wayOut) {
        if (newest.isEmpty()) {
            return new Finding(who, silent, none, wayOut);
        }
        Duration age = Duration.between(newest.get(), now);
        String found = "last record %s ago".formatted(age(age));
        return age.compareTo(limit) > 0
                ? new Finding(who, silent, "%s, more than %s".formatted(found, Units.text(limit)), wayOut)
                : Finding.ok(who, found);
    }

    /**
     * Whether agents write telemetry. Inventories come before it, so that for a minute its lack is no failure.
     *
     * @param newest the time of the newest telemetry; empty if there is none
     * @param declared when inventories were written
     * @param silent the severity of silence
     */
    static Finding agents(Optional<Instant> newest, Collection<Instant> declared, Instant now, Level silent) {
        boolean hasJustBegun = newest.isEmpty()
                && !declared.isEmpty()
                && declared.stream().allMatch(at -> at.plus(AGENTS_SILENT).isAfter(now));
        return hasJustBegun
                ? Finding.silent("agents", NO_TELEMETRY, "wait: the first inventory is less than a minute old")
                : heard("agents", NO_TELEMETRY, newest, now, AGENTS_SILENT, silent, START_AGENTS);
    }

    /**
     * Whether the virtual time of an accelerated run advances. If not, agents and other services wait for it.
     *
     * @param hasBegun whether there is a virtual time
     * @param newest the time of the newest progress record of any service, by the wall clock
     */
    static Finding virtualTime(boolean hasBegun, Optional<Instant> newest, Instant now) {
        if (!hasBegun) {
            return Finding.warn(
                    "time",
                    "virtual time has not begun, and all services wait for it",
                    "begin it with 'lendstream load', or set time=wall if this is no accelerated run");
        }
        Duration still = newest.map(at -> Duration.between(at, now)).orElse(Duration.ZERO);
        return still.compareTo(TIME_STANDS) > 0
                ? Finding.warn(
                        "time",
                        "virtual time has not advanced for %s, and all services wait for it".formatted(age(still)),
                        "if the run has not ended, check 'lendstream load'; start it for the next run")
                : Finding.ok("time", "virtual time advances");
    }

    /**
     * Whether each node has one agent. Two agents of one node show as inventories with alternating boot IDs.
     *
     * @param inventories in the order of their records; only those of the ten minutes before a node's newest count
     */
    static Finding twins(List<Node> inventories) {
        var newest = new HashMap<NodeId, Instant>();
        inventories.forEach(
                node -> newest.merge(node.nodeId(), node.at(), (one, other) -> one.isAfter(other) ? one : other));
        var latest = new HashMap<NodeId, String>();
        var heard = new HashMap<NodeId, Set<String>>();
        var twins = new TreeSet<NodeId>();
        for (Node node : inventories) {
            boolean counts = !node.at()
                    .isBefore(Objects.requireNonNull(newest.get(node.nodeId())).minus(TWINS_WITHIN));
            if (counts && !node.bootId().equals(latest.put(node.nodeId(), node.bootId()))) {
                boolean isNew = heard.computeIfAbsent(node.nodeId(), added -> new HashSet<>())
                        .add(node.bootId());
                if (!isNew) {
                    twins.add(node.nodeId());
                }
            }
        }
        if (newest.isEmpty()) {
            return Finding.silent("nodes", "no node reports", START_AGENTS);
        }
        return twins.isEmpty()
                ? Finding.ok("nodes", "%d nodes, one agent each".formatted(newest.size()))
                : Finding.fail(
                        "nodes",
                        "several agents report %s at once".formatted(some(List.copyOf(twins), NodeId::value)),
                        "stop all but one, or give each its own name (agent.node)");
    }

    /**
     * Whether all nodes are ready, by their inventories.
     *
     * @param inventories the newest of each node that has not left
     */
    static Finding inventories(Collection<Node> inventories) {
        if (inventories.isEmpty()) {
            return Finding.silent("inventory", "no node reports its GPUs", START_AGENTS);
        }
        List<Node> ailing = inventories.stream()
                .filter(node -> node.status() != NodeStatus.READY || !node.why().isEmpty())
                .toList();
        if (ailing.isEmpty()) {
            return Finding.ok("inventory", "all %d nodes are ready".formatted(inventories.size()));
        }
        return Finding.warn(
                "inventory",
                "%d of %d nodes have problems: %s"
                        .formatted(ailing.size(), inventories.size(), some(ailing, Diagnosis::ailment)),
                "correct the reported problems; nothing is lent or reclaimed on a node that is not ready");
    }

    private static String ailment(Node node) {
        return "%s is %s%s"
                .formatted(
                        node.nodeId(),
                        node.status().name().toLowerCase(Locale.ROOT),
                        node.why().isEmpty() ? "" : " (" + node.why() + ")");
    }

    /**
     * Whether the scheduler keeps up.
     *
     * @param members running instances
     * @param lag records that it has not processed yet
     */
    static Finding scheduler(String group, int members, long lag) {
        String found = "%s in group %s, %d records behind".formatted(Reason.counted(members, "instance"), group, lag);
        if (members == 0) {
            return Finding.fail(
                    "scheduler",
                    found,
                    "start 'lendstream scheduler' (a start takes up to a minute), or name its group with --application-id");
        }
        return lag > LAG_UNNOTICED
                ? Finding.warn("scheduler", found, "wait, or start more instances, up to one per partition")
                : Finding.ok("scheduler", found);
    }

    /**
     * Whether the clocks of services agree with the broker's.
     *
     * @param ahead how far each clock is ahead, negative if behind, by the service's name
     */
    static Finding clocks(Map<String, Duration> ahead) {
        if (ahead.isEmpty()) {
            return Finding.ok("clocks", "nothing to compare: no record with the time of the broker");
        }
        List<String> early = off(ahead, SERVICE_SKEW_UNNOTICED, "ahead of");
        List<String> late = off(ahead, SERVICE_SKEW_UNNOTICED.negated(), "behind");
        if (!early.isEmpty()) {
            return Finding.fail(
                    "clocks",
                    some(Stream.concat(early.stream(), late.stream()).toList(), Function.identity()),
                    "synchronise all machines with NTP");
        }
        return late.isEmpty()
                ? Finding.ok(
                        "clocks",
                        "the clocks of %s are within 5s of the broker's"
                                .formatted(Reason.counted(ahead.size(), "service")))
                : Finding.warn(
                        "clocks",
                        some(late, Function.identity()),
                        "synchronise all machines with NTP; after an outage, records that waited look the same");
    }

    private static List<String> off(Map<String, Duration> ahead, Duration bound, String where) {
        return ahead.entrySet().stream()
                .filter(each -> bound.isNegative()
                        ? each.getValue().compareTo(bound) < 0
                        : each.getValue().compareTo(bound) > 0)
                .map(each -> "%s is %s %s the broker"
                        .formatted(each.getKey(), age(each.getValue().abs()), where))
                .toList();
    }

    static Finding quarantine(Collection<Lease> leases, GpuNames names) {
        if (leases.isEmpty()) {
            return Finding.silent(
                    "gpus", "no GPU has a lease", START_AGENTS + "; the scheduler then gives their GPUs a first lease");
        }
        List<Lease> out = leases.stream()
                .filter(lease -> lease.owner().isQuarantined() && !lease.owner().isForeign())
                .toList();
        return out.isEmpty()
                ? Finding.ok("gpus", "none of %d is quarantined".formatted(leases.size()))
                : Finding.warn(
                        "gpus",
                        "%d of %d are quarantined: %s"
                                .formatted(
                                        out.size(),
                                        leases.size(),
                                        some(
                                                out,
                                                lease -> names.of(lease.gpuId()) + ", " + EventText.of(lease.owner()))),
                        "repair them, then run 'lendstream reset GPU'");
    }

    /** Which GPUs others use, if the scheduler heeds users. One of which no agent says anything is never given away. */
    static Finding foreign(Collection<Lease> leases, GpuNames names) {
        List<Lease> foreign =
                leases.stream().filter(lease -> lease.owner().isForeign()).toList();
        List<Lease> unknown = foreign.stream()
                .filter(lease -> lease.owner()
                        .asForeign()
                        .filter(ForeignUse.UNKNOWN::equals)
                        .isPresent())
                .toList();
        String all = "%d of %d are foreign: %s"
                .formatted(
                        foreign.size(),
                        leases.size(),
                        some(foreign, lease -> names.of(lease.gpuId()) + ", " + EventText.of(lease.owner())));
        if (foreign.isEmpty()) {
            return Finding.ok("foreign", "no GPU is foreign");
        }
        List<Lease> late = foreign.stream()
                .filter(lease -> EventText.suspicion(lease).isPresent())
                .toList();
        if (!late.isEmpty()) {
            return Finding.warn(
                    "foreign",
                    all,
                    "perhaps a tenant outlived its release: "
                            + some(late, lease -> EventText.suspicion(lease).orElseThrow()));
        }
        return unknown.isEmpty()
                ? Finding.ok("foreign", all)
                : Finding.warn(
                        "foreign",
                        all,
                        "check 'users'; an agent has to say of each GPU whether something uses it (docs/agent.md)");
    }

    /** A length of time in whole seconds. */
    static String age(Duration age) {
        return Units.text(Duration.ofSeconds(Math.max(0, age.toSeconds())));
    }

    /** The first names of a list, and the number of the others. */
    static <T> String some(List<T> things, Function<T, String> name) {
        String named = String.join("; ", things.stream().limit(NAMED).map(name).toList());
        return things.size() > NAMED ? "%s and %d more".formatted(named, things.size() - NAMED) : named;
    }
}
