package io.lendstream.core.scheduler;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeSamples;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.NodeState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Samples of a domain that are not put through the scheduler one by one, because each would change nothing but the time
 * of its node's last sample. They are put through later, summed up (ADR 55). The log then knows of an older last sample
 * than the agent sent, but never of one so old that silence is judged: a sample is held only if the node's last sample
 * in the log stays fresh until the sum is due. So owners and decisions are those of a log with each sample.
 *
 * <p>It is not stored. What is lost with it are samples that newer ones follow.
 */
public final class HeldSamples {
    /** The shortest silence of an agent, beside the setting, that means something anywhere in the scheduler. */
    private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(60);
    /** Nodes in one sum, so that its record stays far below the usual bound of 1 MB. */
    static final int MOST_NODES = 2_000;

    private final Duration longest;
    private final Duration silence;
    private final TreeMap<NodeId, Held> nodes = new TreeMap<>();
    private Optional<Instant> due = Optional.empty();
    /** The time of the domain, if what is held were put through. */
    private Instant newest = Instant.MIN;

    /**
     * The samples of a node.
     *
     * @param state the node after them
     * @param at time of the last of them, as the domain reckons
     * @param samples how many they are
     */
    private record Held(NodeState state, Instant at, int samples) {}

    /**
     * Holds nothing at first.
     *
     * @param longest time for which a sample is held; zero if none is
     * @throws IllegalArgumentException if that is not at most half of the shortest silence that means something
     */
    public HeldSamples(Duration longest, SchedulerSettings settings) {
        this.longest = longest;
        this.silence = silence(settings);
        check(longest, settings);
    }

    /**
     * Checks a setting.
     *
     * @throws IllegalArgumentException as the constructor
     */
    public static void check(Duration longest, SchedulerSettings settings) {
        Duration most = silence(settings).dividedBy(2);
        if (longest.isNegative() || longest.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                    ("scheduler.hold-samples is %s, but must be at least 0s and at most %s: half of"
                                    + " scheduler.node-stale-after and of the 60 s after which an agent counts as silent."
                                    + " Make it shorter; with 0s each sample is written to the log at once.")
                            .formatted(seconds(longest), seconds(most)));
        }
    }

    private static Duration silence(SchedulerSettings settings) {
        return settings.nodeStaleAfter().compareTo(SHORTEST_SILENCE) < 0 ? settings.nodeStaleAfter() : SHORTEST_SILENCE;
    }

    private static String seconds(Duration time) {
        return time.toMillis() / 1000.0 + " s";
    }

    /**
     * Takes an event in, if it is a sample that changes nothing but the time of its node's last sample.
     *
     * @param state the domain's state before it
     * @param event with the next sequence of the domain's log
     * @return whether it is held; otherwise it has to be put through now, after {@link #before}
     */
    public boolean hold(Scheduler scheduler, ClusterState state, DomainEvent event) {
        Optional<GpuTelemetry> sample = event.event().asTelemetry();
        Instant now = later(event.at(), later(state.now(), newest));
        if (longest.isZero()
                || sample.isEmpty()
                || isDue(now)
                || !staysFresh(state, sample.get().nodeId(), now)) {
            return false;
        }
        NodeId node = sample.get().nodeId();
        Optional<Held> held = Optional.ofNullable(nodes.get(node));
        ClusterState untilNow = state.at(now);
        ClusterState heard =
                held.map(earlier -> untilNow.heard(earlier.state())).orElse(untilNow);
        if (!follows(heard.nodes().require(node), sample.get())) {
            return false;
        }
        Step step = scheduler.step(heard, event);
        if (!changesOnly(node, heard, step)) {
            return false;
        }
        NodeState after = step.state().nodes().require(node);
        nodes.put(node, new Held(after, now, 1 + held.map(Held::samples).orElse(0)));
        newest = now;
        due = Optional.of(due.orElse(now.plus(longest)));
        return true;
    }

    /** Whether a node stays fresh, by what is known without held samples, for as long as one may be held. */
    private boolean staysFresh(ClusterState state, NodeId node, Instant now) {
        return state.nodes()
                .get(node)
                .flatMap(NodeState::lastSampleAt)
                .filter(last -> !last.plus(silence).isBefore(now.plus(longest)))
                .isPresent();
    }

    /** Whether a sample is newer than the last one, of the same boot. */
    private static boolean follows(NodeState node, GpuTelemetry sample) {
        return node.bootId().equals(sample.bootId())
                && node.sequence() < sample.sequence()
                && node.lastSampleAt().filter(sample.at()::isAfter).isPresent();
    }

    private static boolean changesOnly(NodeId node, ClusterState before, Step step) {
        Step.Changed changed = step.changed();
        ClusterState after = step.state();
        return step.decisions().isEmpty()
                && changed.nodes().equals(Set.of(node))
                && changed.gpus().isEmpty()
                && changed.owners().isEmpty()
                && changed.services().isEmpty()
                && changed.jobs().isEmpty()
                && changed.queues().isEmpty()
                && changed.actuators().isEmpty()
                && after.epoch() == before.epoch()
                && after.decisionSequence() == before.decisionSequence()
                && after.nextPlanAt().equals(before.nextPlanAt())
                && after.mode().equals(before.mode())
                && after.pacing().equals(before.pacing())
                && after.slices().equals(before.slices())
                && after.advice().equals(before.advice())
                && after.promises().equals(before.promises())
                && after.loanStarts().equals(before.loanStarts());
    }

    /**
     * Takes out what has to be put through before an event: all before a tick, a command or a start, before a sample by
     * a clock behind those of others, whose evidence would seem older than it is, and once the first of them has been
     * held for long enough; else what is held of the event's node.
     *
     * @param now the time of the event, as the domain reckons
     */
    public List<SampleSummary> before(Event event, Instant now) {
        if (nodes.isEmpty()) {
            return List.of();
        }
        boolean isForAll = event.isTick()
                || event.asCommand().isPresent()
                || event.changesSettings()
                || (event.asTelemetry().isPresent() && newest.isAfter(now));
        if (isForAll || isDue(now)) {
            return takeAll(event.domain());
        }
        Optional<Held> ofNode = node(event).map(nodes::remove);
        return ofNode.map(held -> List.of(sum(event.domain(), List.of(held)))).orElse(List.of());
    }

    private static Optional<NodeId> node(Event event) {
        return event.asTelemetry()
                .map(GpuTelemetry::nodeId)
                .or(() -> event.asNode().map(Node::nodeId))
                .or(() -> event.asNodeLeft().map(NodeLeft::nodeId));
    }

    /** Takes out all, if the first of them has been held for long enough at a time. */
    public List<SampleSummary> dueAt(DomainId domain, Instant now) {
        return isDue(now) ? takeAll(domain) : List.of();
    }

    /** Lets go of all that is held. */
    public void drop() {
        nodes.clear();
        due = Optional.empty();
        newest = Instant.MIN;
    }

    private boolean isDue(Instant now) {
        return due.filter(at -> !at.isAfter(now)).isPresent();
    }

    private List<SampleSummary> takeAll(DomainId domain) {
        List<SampleSummary> sums = new ArrayList<>();
        List<Held> part = new ArrayList<>();
        for (Held held : nodes.values()) {
            part.add(held);
            if (part.size() == MOST_NODES) {
                sums.add(sum(domain, part));
                part.clear();
            }
        }
        if (!part.isEmpty()) {
            sums.add(sum(domain, part));
        }
        drop();
        return sums;
    }

    private static SampleSummary sum(DomainId domain, List<Held> some) {
        List<NodeSamples> entries =
                some.stream().map(held -> held.state().samples(held.samples())).toList();
        Instant at = some.stream().map(Held::at).max(Instant::compareTo).orElseThrow();
        return new SampleSummary(domain, at, entries);
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }
}
