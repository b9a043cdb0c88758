package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.operation.Finding.Level;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What is to be thought of what was found: from figures to findings, without asking anybody. */
final class Diagnosis {
    /** Beyond their deadline and this, decisions count as unanswered. */
    static final Duration SILENCE = Duration.ofSeconds(60);

    private static final Duration SKEW_UNNOTICED = Duration.ofSeconds(1);
    private static final Duration SERVICE_SKEW_UNNOTICED = Duration.ofSeconds(5);
    private static final Duration STOCK_EVERY = Duration.ofSeconds(60);
    private static final Duration SHORTEST_STOCK = Duration.ofSeconds(10);
    private static final int STOCKS_MISSED = 3;
    private static final Duration REMOVED_AFTER = Duration.ofDays(1);
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
                ? Finding.ok("topics", "all %d are there, as they should be".formatted(topics.size()))
                : Finding.warn(
                        "topics",
                        some(
                                drifted,
                                topic -> topic.name() + ": " + topic.drifts().get(0)),
                        "set what differs with kafka-configs, or mean it");
    }

    /**
     * Whether records outlive a broker.
     *
     * @param minInsync {@code min.insync.replicas} of the topics that are there
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
                    "nobody can write to %s while one broker is down: min.insync.replicas is as large as the replication"
                            .formatted(some(blocked, TopicState::name)),
                    "make it one less");
        }
        List<TopicState> thin =
                there.stream().filter(topic -> topic.replication() < 3).toList();
        if (!thin.isEmpty()) {
            String found = "%d of %d topics have fewer than 3 copies, on %s"
                    .formatted(thin.size(), there.size(), Reason.counted(brokers, "broker"));
            return Finding.warn("replication", found, "fine for trying; run 3 brokers where records must not be lost");
        }
        List<TopicState> weak = there.stream()
                .filter(topic -> minInsync.apply(topic.name()) < 2)
                .toList();
        return weak.isEmpty()
                ? Finding.ok("replication", "3 copies or more, on %s".formatted(Reason.counted(brokers, "broker")))
                : Finding.warn(
                        "replication",
                        "%s may lose what was written: min.insync.replicas is 1"
                                .formatted(some(weak, TopicState::name)),
                        "make it 2");
    }

    static Finding schemas(List<SubjectReport> subjects) {
        List<SubjectReport> bad =
                subjects.stream().filter(subject -> !subject.fine()).toList();
        if (!bad.isEmpty()) {
            return Finding.fail(
                    "schemas",
                    some(bad, subject -> subject.subject() + " " + String.join(", ", subject.messages())),
                    "'lendstream schemas check' says more");
        }
        long absent = subjects.stream()
                .filter(subject -> subject.status() == SubjectReport.Status.ABSENT)
                .count();
        return absent == 0
                ? Finding.ok("schemas", "all %d are registered, and get along".formatted(subjects.size()))
                : Finding.warn(
                        "schemas",
                        "%d of %d are not registered".formatted(absent, subjects.size()),
                        "register them with 'lendstream schemas register'");
    }

    /** @param ahead by how much the broker's clock is ahead of this one */
    static Finding clock(Duration ahead, Duration mostSkew) {
        String found = "the broker's clock is %s %s this one"
                .formatted(Units.text(ahead.abs()), ahead.isNegative() ? "behind" : "ahead of");
        if (ahead.abs().compareTo(mostSkew) > 0) {
            return Finding.fail(
                    "clock",
                    found + ", more than max-clock-skew (%s)".formatted(Units.text(mostSkew)),
                    "have both follow NTP");
        }
        return ahead.abs().compareTo(SKEW_UNNOTICED) > 0
                ? Finding.warn("clock", found, "have both follow NTP")
                : Finding.ok("clock", found);
    }

    /**
     * Whether somebody still writes.
     *
     * @param newest the newest record; empty where there is none
     * @param silent how bad silence is
     */
    static Finding heard(
            String who, Optional<Instant> newest, Instant now, Duration limit, Level silent, String wayOut) {
        if (newest.isEmpty()) {
            return new Finding(who, silent, "has never written anything", wayOut);
        }
        Duration age = Duration.between(newest.get(), now);
        String found = "wrote last %s ago".formatted(age(age));
        return age.compareTo(limit) > 0
                ? new Finding(who, silent, "%s, more than %s".formatted(found, Units.text(limit)), wayOut)
                : Finding.ok(who, found);
    }

    /**
     * Whether each node has one agent: one that speaks again after another has spoken for its node runs beside it.
     *
     * @param inventories in the order in which they were written; of each node those of the last ten minutes before its newest count
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
        return twins.isEmpty()
                ? Finding.ok("nodes", "one agent speaks for each of %d".formatted(newest.size()))
                : Finding.fail(
                        "nodes",
                        "several agents speak for %s at once".formatted(some(List.copyOf(twins), NodeId::value)),
                        "stop all but one, or give each a name of its own (agent.node)");
    }

    /**
     * Whether nodes are well, as their agents say.
     *
     * @param inventories the newest of each node that has not left
     */
    static Finding inventories(Collection<Node> inventories) {
        List<Node> ailing = inventories.stream()
                .filter(node -> node.status() != NodeStatus.READY || !node.why().isEmpty())
                .toList();
        if (ailing.isEmpty()) {
            return Finding.ok("inventory", "all %d nodes are ready".formatted(inventories.size()));
        }
        return Finding.warn(
                "inventory",
                "not all is well with %d of %d nodes: %s"
                        .formatted(ailing.size(), inventories.size(), some(ailing, Diagnosis::ailment)),
                "see to what is said of them; nothing is lent or taken back on a node that is not ready");
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
     * @param members instances that share its work
     * @param lag records that it has not taken yet
     */
    static Finding scheduler(String group, int members, long lag) {
        String found = "%s in group %s, %d records behind".formatted(Reason.counted(members, "instance"), group, lag);
        if (members == 0) {
            return Finding.fail(
                    "scheduler", found, "start 'lendstream scheduler', or name its group with --application-id");
        }
        return lag > LAG_UNNOTICED
                ? Finding.warn("scheduler", found, "wait, or start more instances, up to one per partition")
                : Finding.ok("scheduler", found);
    }

    /**
     * Whether the clocks of services are right.
     *
     * @param ahead by how much each is ahead of the broker's, negative where it is behind, by the service's name
     */
    static Finding clocks(Map<String, Duration> ahead) {
        if (ahead.isEmpty()) {
            return Finding.ok(
                    "clocks", "nothing to compare: no service has written anything that the broker has stamped");
        }
        List<String> early = off(ahead, SERVICE_SKEW_UNNOTICED, "ahead of");
        List<String> late = off(ahead, SERVICE_SKEW_UNNOTICED.negated(), "behind");
        if (!early.isEmpty()) {
            return Finding.fail(
                    "clocks",
                    some(Stream.concat(early.stream(), late.stream()).toList(), Function.identity()),
                    "have all machines follow NTP");
        }
        return late.isEmpty()
                ? Finding.ok("clocks", "those of %d services are within 5s of the broker's".formatted(ahead.size()))
                : Finding.warn(
                        "clocks",
                        some(late, Function.identity()),
                        "have all machines follow NTP; after an outage it may only be that records waited");
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

    /**
     * Which actuators have gone silent. One reports what its GPUs hold every {@code actuator.stock-every}, which is seen from the
     * topic; one that is silent for a day counts as removed. One that has never reported anything is not known.
     *
     * @param reported when each actuator has reported what its GPUs hold, by its name
     * @param last when each has reported anything
     */
    static Finding alive(Map<String, ? extends SortedSet<Instant>> reported, Map<String, Instant> last, Instant now) {
        List<String> silent = new ArrayList<>();
        int known = 0;
        for (Map.Entry<String, Instant> each : last.entrySet()) {
            Duration silence = Duration.between(each.getValue(), now);
            Duration limit = stockEvery(reported.get(each.getKey())).multipliedBy(STOCKS_MISSED);
            if (silence.compareTo(REMOVED_AFTER) > 0) {
                continue;
            }
            known++;
            if (silence.compareTo(limit) > 0) {
                silent.add("%s has reported nothing for %s, more than %s"
                        .formatted(each.getKey(), age(silence), Units.text(limit)));
            }
        }
        if (silent.isEmpty()) {
            return Finding.ok(
                    "actuator", known == 0 ? "none has reported in the last day" : "all %d report".formatted(known));
        }
        return Finding.fail(
                "actuator",
                some(silent, Function.identity()),
                "see whether it runs and reaches the broker; if it was removed, this ends after a day");
    }

    /** The usual time between two stocks, or the default where there are too few to tell. */
    private static Duration stockEvery(@Nullable SortedSet<Instant> stocks) {
        if (stocks == null || stocks.size() < 3) {
            return STOCK_EVERY;
        }
        List<Instant> times = List.copyOf(stocks);
        List<Duration> gaps = IntStream.range(1, times.size())
                .mapToObj(at -> Duration.between(times.get(at - 1), times.get(at)))
                .sorted()
                .toList();
        Duration usual = gaps.get(gaps.size() / 2);
        return usual.compareTo(SHORTEST_STOCK) < 0 ? SHORTEST_STOCK : usual;
    }

    /** @param now by the clock that decisions go by */
    static Finding actuators(Collection<Decision> decisions, Set<DecisionId> answered, Instant now) {
        List<Decision> asked = decisions.stream()
                .filter(decision -> !decision.advisory() && !decision.action().isHold())
                .toList();
        List<Decision> unanswered = asked.stream()
                .filter(decision ->
                        decision.deadline().plus(SILENCE).isBefore(now) && !answered.contains(decision.id()))
                .toList();
        if (unanswered.isEmpty()) {
            return Finding.ok(
                    "actuators",
                    asked.isEmpty()
                            ? "nothing has been asked of them in the last hour"
                            : "all %d decisions of the last hour are answered, or not due".formatted(asked.size()));
        }
        return Finding.fail(
                "actuators",
                "%d of %d decisions of the last hour are overdue without a word: %s"
                        .formatted(
                                unanswered.size(),
                                asked.size(),
                                some(unanswered, decision -> decision.id().toString())),
                "see whether 'lendstream actuator' runs for their domains");
    }

    static Finding quarantine(Collection<Lease> leases) {
        List<Lease> out =
                leases.stream().filter(lease -> lease.owner().isQuarantined()).toList();
        return out.isEmpty()
                ? Finding.ok("gpus", "none of %d is quarantined".formatted(leases.size()))
                : Finding.warn(
                        "gpus",
                        "%d of %d are quarantined: %s"
                                .formatted(
                                        out.size(),
                                        leases.size(),
                                        some(out, lease -> lease.gpuId() + ", " + EventText.of(lease.owner()))),
                        "see to them, then 'lendstream reset GPU'");
    }

    private static String age(Duration age) {
        return Units.text(Duration.ofSeconds(Math.max(0, age.toSeconds())));
    }

    private static <T> String some(List<T> things, Function<T, String> name) {
        String named = String.join("; ", things.stream().limit(NAMED).map(name).toList());
        return things.size() > NAMED ? "%s and %d more".formatted(named, things.size() - NAMED) : named;
    }
}
