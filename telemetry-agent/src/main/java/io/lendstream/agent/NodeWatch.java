package io.lendstream.agent;

import io.lendstream.agent.gpu.GpuProbe;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.agent.publish.RecordSink;
import io.lendstream.agent.users.Users;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a node's GPUs. It publishes the inventory at each change and periodically, and a sample while the GPUs are
 * readable. A node with unreadable GPUs is published with that status, so that it does not count as dead.
 */
final class NodeWatch {
    private static final Logger LOG = LoggerFactory.getLogger(NodeWatch.class);

    private final Identity identity;
    private final GpuProbe probe;
    private final Users users;
    private final Maintenance breaks;
    private final Duration inventoryEvery;
    private final RecordSink outbox;
    private final MeterRegistry metrics;
    private final Timer looks;
    private volatile Optional<GpuSnapshot> latest = Optional.empty();
    private Optional<Node> told = Optional.empty();
    private Optional<String> pausedFor = Optional.empty();
    private String why = "";
    private long sequence;
    private long inventories;
    private Optional<Instant> wanted = Optional.empty();

    /**
     * A watch.
     *
     * @param users sources of the GPUs' users
     * @param inventoryEvery period of the inventory without changes
     */
    NodeWatch(
            Identity identity,
            GpuProbe probe,
            Users users,
            Maintenance breaks,
            Duration inventoryEvery,
            RecordSink outbox,
            MeterRegistry metrics) {
        this.identity = identity;
        this.probe = probe;
        this.users = users;
        this.breaks = breaks;
        this.inventoryEvery = inventoryEvery;
        this.outbox = outbox;
        this.metrics = metrics;
        this.looks = Timer.builder("lendstream.gpu.look")
                .publishPercentiles(0.5, 0.99)
                .register(metrics);
        List.of(NodeStatus.READY, NodeStatus.PAUSED, NodeStatus.UNAVAILABLE).forEach(this::samplings);
    }

    /** Counts from 0 on, so that a rate sees the first sampling. */
    private Counter samplings(NodeStatus status) {
        return metrics.counter("lendstream.gpu.looks", "status", status.name().toLowerCase(Locale.ROOT));
    }

    /** Reads at once if the GPUs must be released or may be used again, or if the last read asked for it. */
    synchronized void heed(Instant now) {
        if (!breaks.why().equals(pausedFor)
                || wanted.filter(at -> !now.isBefore(at)).isPresent()) {
            look(now);
        }
    }

    /** Reads once and publishes the result; returns the time of the next read, if that is sooner than usual. */
    synchronized Optional<Duration> look(Instant now) {
        rest();
        GpuSnapshot sight = looks.record(() -> users.in(probe.look(now)));
        latest = Optional.of(sight);
        samplings(sight.status()).increment();
        wanted = sight.again().map(now::plus);
        say(sight);
        tellInventory(sight, now);
        if (sight.status() == NodeStatus.READY) {
            sequence++;
            outbox.publish(
                    TopicCatalogue.GPU_TELEMETRY,
                    identity.node().value(),
                    new GpuTelemetry(
                            identity.node(), identity.domain(), identity.boot(), sequence, now, sight.samples()));
        }
        return sight.again();
    }

    /** The last snapshot, for HTTP pages. */
    Optional<GpuSnapshot> latest() {
        return latest;
    }

    /** The identity of this agent. */
    NodeId node() {
        return identity.node();
    }

    private void rest() {
        Optional<String> reason = breaks.why();
        if (reason.isPresent() && !reason.equals(pausedFor)) {
            probe.pause(reason.get());
        } else if (reason.isEmpty() && pausedFor.isPresent()) {
            probe.resume();
        }
        pausedFor = reason;
    }

    private void tellInventory(GpuSnapshot sight, Instant now) {
        var node = new Node(
                identity.node(),
                identity.domain(),
                identity.pool(),
                identity.boot(),
                now,
                sight.status(),
                sight.gpus(),
                sight.driverVersion(),
                inventories + 1,
                sight.why(),
                identity.facts());
        boolean isNews = told.map(before -> !isSame(before, node)
                        || !now.isBefore(before.at().plus(inventoryEvery))
                        || now.isBefore(before.at()))
                .orElse(true);
        if (isNews) {
            outbox.publish(TopicCatalogue.NODES, identity.node().value(), node);
            told = Optional.of(node);
            inventories++;
        }
    }

    /** A node's reason for not being READY is logged when it changes; problems of a READY node may come and go. */
    private static boolean isSame(Node one, Node other) {
        return one.status() == other.status()
                && (one.status() == NodeStatus.READY || one.why().equals(other.why()))
                && one.gpus().equals(other.gpus())
                && one.driverVersion().equals(other.driverVersion());
    }

    private void say(GpuSnapshot sight) {
        if (!sight.why().equals(why)) {
            why = sight.why();
            if (why.isEmpty()) {
                LOG.info("node {} is {}", identity.node(), sight.status());
            } else {
                LOG.warn("node {} is {}: {}", identity.node(), sight.status(), why);
            }
        }
    }
}
