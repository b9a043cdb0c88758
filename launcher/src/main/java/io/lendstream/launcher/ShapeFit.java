package io.lendstream.launcher;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.NodeLayout;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Whether simulated nodes can give a job a number of GPUs that its shape allows. A job without one waits for ever. */
final class ShapeFit implements NodeLayout {
    private final SimulatedNodes.Layout layout;
    private final Map<NodeId, Node> nodes = new HashMap<>();
    /** The GPUs of each node that training may have, by product. */
    private final Map<SimulatedGpu, Map<NodeId, Integer>> usable = new EnumMap<>(SimulatedGpu.class);

    /** @param lends whether training may have the nodes of inference too */
    ShapeFit(SimulatedNodes.Layout layout, boolean lends) {
        this.layout = layout;
        List<Node> all = new SimulatedNodes(layout, Instant.EPOCH, Duration.ofSeconds(60), "fit").inventory();
        List<SimulatedGpu> products = layout.products();
        for (int i = 0; i < all.size(); i++) {
            Node node = all.get(i);
            nodes.put(node.nodeId(), node);
            if (lends || node.pool() == Pool.TRAINING) {
                usable.computeIfAbsent(products.get(i), any -> new HashMap<>())
                        .put(node.nodeId(), layout.gpusPerNode());
            }
        }
    }

    boolean holds(TrainingJob job) {
        for (Map.Entry<SimulatedGpu, Map<NodeId, Integer>> product : usable.entrySet()) {
            if (!job.excludes(product.getKey().kind()) && holds(job, product.getValue())) {
                return true;
            }
        }
        return false;
    }

    private boolean holds(TrainingJob job, Map<NodeId, Integer> gpus) {
        return least(job, gpus) > 0;
    }

    /** The fewest GPUs of a product that a job may have by its shape; 0 if the nodes have no such number. */
    int least(TrainingJob job, SimulatedGpu product) {
        return least(job, usable.getOrDefault(product, Map.of()));
    }

    private int least(TrainingJob job, Map<NodeId, Integer> gpus) {
        BitSet sizes = JobSite.of(job.shape(), this).sizes(gpus);
        int least = job.scaling().least();
        int most = job.scaling().elastic() ? job.scaling().maxGpus() : least;
        for (int size = sizes.nextSetBit(least); size >= 0 && size <= most; size = sizes.nextSetBit(size + 1)) {
            if (job.shape().allows(size)) {
                return size;
            }
        }
        return 0;
    }

    /** The most GPUs of one product that a job may use, in one domain of its topology if it requires one. */
    int largest(TrainingJob job) {
        JobSite site = JobSite.of(job.shape(), this);
        int largest = 0;
        for (Map.Entry<SimulatedGpu, Map<NodeId, Integer>> product : usable.entrySet()) {
            if (!job.excludes(product.getKey().kind())) {
                Map<String, Integer> domains = new HashMap<>();
                product.getValue()
                        .forEach((node, gpus) ->
                                domains.merge(site.needsDomain() ? site.domain(node) : "", gpus, Integer::sum));
                for (int gpus : domains.values()) {
                    largest = Math.max(largest, gpus);
                }
            }
        }
        return largest;
    }

    @Override
    public int gpusOf(NodeId node) {
        return layout.gpusPerNode();
    }

    @Override
    public String domain(NodeId node, TopologyLevel level) {
        Node known = Objects.requireNonNull(nodes.get(node), "a node of another layout");
        return layout.topology().labels().domain(known, level);
    }
}
