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
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at a node's GPUs and tells: its inventory when that changes and now and then, and a sample of what they do while they can be
 * seen. A node of which nothing can be seen is told as such, so that nobody takes it for dead.
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
     * @param users who is asked for those who use the GPUs
     * @param inventoryEvery how often the inventory is told where nothing has changed
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
    }

    /** Looks at once where the GPUs must be let go, or need not any more, or where the last look asked for another one by now. */
    synchronized void heed(Instant now) {
        if (!breaks.why().equals(pausedFor)
                || wanted.filter(at -> !now.isBefore(at)).isPresent()) {
            look(now);
        }
    }

    /** Looks once and tells what it saw; when to look again, where that is sooner than usual. */
    synchronized Optional<Duration> look(Instant now) {
        rest();
        GpuSnapshot sight = looks.record(() -> users.in(probe.look(now)));
        latest = Optional.of(sight);
        metrics.counter("lendstream.gpu.looks", "status", sight.status().name().toLowerCase(Locale.ROOT))
                .increment();
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

    /** What was seen last, for those who ask. */
    Optional<GpuSnapshot> latest() {
        return latest;
    }

    /** Whose GPUs they are. */
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
                sight.why());
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

    /** Why a node is not READY is news when it changes; what of a node that is may come and go from look to look. */
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
