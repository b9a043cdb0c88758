package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The shares of jobs and the paused jobs of a node never have more host memory than the node: no decision raises them
 * above it. They may be above it where no decision is to blame: the node has reported less since.
 */
final class HostRule implements HistoryRule {
    private final Violations violations;
    private Optional<ClusterState> found = Optional.empty();

    HostRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        found = Optional.of(state);
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        ClusterState after = replayed.state();
        if (replayed.decisions().isEmpty() || after.clusterIndex().hosts().isEmpty()) {
            return;
        }
        for (NodeId node : changed(replayed)) {
            long has = after.clusterIndex()
                    .hosts()
                    .get(node)
                    .flatMap(NodeFacts::memoryBytes)
                    .orElse(Long.MAX_VALUE);
            long used = used(after, node);
            long before = found.map(state -> used(state, node)).orElse(0L);
            if (used > has && used > before) {
                violations.add(
                        Rule.HOST,
                        "event %d raised the host memory of jobs on node %s to %d bytes, and it has %d"
                                .formatted(replayed.event().sequence(), node, used, has));
            }
        }
    }

    /** The nodes of the jobs that decisions have changed. */
    private static Set<NodeId> changed(ReplayedEvent replayed) {
        ClusterState state = replayed.state();
        Set<NodeId> nodes = new TreeSet<>();
        for (Decision decision : replayed.decisions()) {
            decision.action().jobChange().ifPresent(change -> {
                change.allocation()
                        .gpus()
                        .forEach(gpu ->
                                state.gpus().get(gpu).map(GpuState::nodeId).ifPresent(nodes::add));
                state.jobs().get(change.job()).flatMap(JobState::paused).ifPresent(at -> nodes.add(at.node()));
            });
        }
        return nodes;
    }

    private static long used(ClusterState state, NodeId node) {
        long used = 0;
        for (JobState job : state.jobs().values()) {
            used += job.paused()
                    .filter(at -> at.node().equals(node))
                    .map(at -> at.hostMemoryBytes())
                    .orElse(0L);
            long each = job.allocation().host().map(HostShare::memoryBytes).orElse(0L);
            if (each > 0 && !job.isOver()) {
                for (GpuId gpu : job.allocation().gpus()) {
                    boolean isThere = state.gpus()
                            .get(gpu)
                            .filter(unit -> unit.nodeId().equals(node))
                            .isPresent();
                    used += isThere ? each : 0;
                }
            }
        }
        return used;
    }
}
