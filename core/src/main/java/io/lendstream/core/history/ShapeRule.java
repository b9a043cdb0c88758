package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterLayout;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A decision gives a job a number of GPUs that its shape allows: whole nodes, if it takes these, and one topology
 * domain, if it requires one. A job may have other GPUs where no decision is to blame: its owner, a loss or a label has
 * changed since.
 */
final class ShapeRule implements HistoryRule {
    private final Violations violations;

    ShapeRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        Optional<JobChange> change = decision.action().jobChange();
        Optional<JobState> job =
                change.flatMap(changed -> replayed.state().jobs().get(changed.job()));
        if (change.isEmpty() || job.isEmpty() || job.get().spec().shape().isAny()) {
            return;
        }
        JobShape shape = job.get().spec().shape();
        List<GpuId> gpus = change.get().allocation().gpus();
        if (!shape.allows(gpus.size()) || !suits(shape, gpus, replayed)) {
            violations.add(Rule.SHAPE.violation("decision %s gives a job %s, which its shape (%s) forbids: %s"
                    .formatted(decision.id(), Reason.counted(gpus.size(), "GPU"), shape.inWords(), decision.action())));
        }
    }

    private static boolean suits(JobShape shape, List<GpuId> gpus, ReplayedEvent replayed) {
        ClusterState state = replayed.state();
        List<GpuState> units =
                gpus.stream().flatMap(gpu -> state.gpus().get(gpu).stream()).toList();
        Map<NodeId, Integer> perNode = new TreeMap<>();
        units.forEach(unit -> perNode.merge(unit.nodeId(), 1, Integer::sum));
        ClusterLayout layout = new ClusterLayout(
                state.clusterIndex().gpus().seats(),
                state.nodes(),
                replayed.scheduler().settings().model().topology(),
                units.stream().findFirst().flatMap(GpuState::kind));
        return JobSite.of(shape, layout).suits(perNode);
    }
}
