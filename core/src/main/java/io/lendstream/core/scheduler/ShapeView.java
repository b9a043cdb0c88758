package io.lendstream.core.scheduler;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TopologyWish;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterLayout;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Jobs in their shapes, as a policy sees them with some GPUs. Nothing is computed for jobs without a shape. */
final class ShapeView {
    private final ClusterLayout layout;
    private final Supplier<List<GpuState>> usable;
    private final Map<SiteKey, BitSet> sizes = new HashMap<>();
    private Optional<Map<NodeId, Integer>> perNode = Optional.empty();

    /** What the numbers of GPUs that nodes can give depend on. */
    private record SiteKey(boolean wholeNodes, Optional<TopologyLevel> domain) {}

    /**
     * A view.
     *
     * @param usable the GPUs that training may use
     * @param kind their kind; empty if they are of all kinds
     */
    ShapeView(StepBuilder builder, TopologyLabels labels, Supplier<List<GpuState>> usable, Optional<KindId> kind) {
        this.layout = new ClusterLayout(builder.clusterIndex().gpus().seats(), builder.nodes(), labels, kind);
        this.usable = usable;
    }

    /** A job in its shape. */
    JobView of(JobState job, JobView seen) {
        return job.spec().shape().isAny() ? seen : shaped(job, seen);
    }

    ShapedJob shaped(JobState job, JobView seen) {
        JobShape shape = job.spec().shape();
        JobSite site = JobSite.of(shape, layout);
        boolean limited = site.wholeNodes() || site.needsDomain();
        return new ShapedJob(seen, shape, site, limited ? Optional.of(sizes(site)) : Optional.empty());
    }

    /** The most GPUs that nodes can give a job, whatever its sizes. */
    int most(JobState job) {
        return Math.max(0, sizes(JobSite.of(job.spec().shape(), layout)).length() - 1);
    }

    private BitSet sizes(JobSite site) {
        Optional<TopologyLevel> domain =
                site.wish().filter(TopologyWish::required).map(TopologyWish::level);
        return sizes.computeIfAbsent(new SiteKey(site.wholeNodes(), domain), any -> site.sizes(perNode()));
    }

    private Map<NodeId, Integer> perNode() {
        if (perNode.isEmpty()) {
            Map<NodeId, Integer> counts = new HashMap<>();
            for (GpuState gpu : usable.get()) {
                counts.merge(gpu.nodeId(), 1, Integer::sum);
            }
            perNode = Optional.of(counts);
        }
        return perNode.get();
    }
}
