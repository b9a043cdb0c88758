package io.lendstream.launcher;

import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.TopologyLabels;
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
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;

/** Whether simulated nodes can give a job a number of GPUs that its shape allows. A job without one waits for ever. */
final class ShapeFit {
    private final TopologyLabels labels;
    private final Map<NodeId, Node> nodes = new HashMap<>();
    /** The GPUs of each node that training may have, by product. */
    private final Map<SimulatedGpu, Map<NodeId, Integer>> usable = new EnumMap<>(SimulatedGpu.class);

    /** The nodes with GPUs of one product, as a job on that product sees them. */
    private final class OfProduct implements NodeLayout {
        private final Map<NodeId, Integer> gpus;

        private OfProduct(SimulatedGpu product) {
            this.gpus = usable.getOrDefault(product, Map.of());
        }

        @Override
        public int gpusOf(NodeId node) {
            return gpus.getOrDefault(node, 0);
        }

        @Override
        public String domain(NodeId node, TopologyLevel level) {
            return labels.domain(Objects.requireNonNull(nodes.get(node), "a node of another layout"), level);
        }
    }

    /** @param lends whether training may have the nodes of inference too */
    ShapeFit(SimulatedNodes.Layout layout, boolean lends) {
        this.labels = layout.labels();
        List<Node> all = new SimulatedNodes(layout, Instant.EPOCH, Duration.ofSeconds(60), "fit").inventory();
        List<Map<SimulatedGpu, Integer>> gpus = layout.gpusByNode();
        for (int i = 0; i < all.size(); i++) {
            Node node = all.get(i);
            nodes.put(node.nodeId(), node);
            if (lends || node.pool() == Pool.TRAINING) {
                gpus.get(i)
                        .forEach((product, count) -> usable.computeIfAbsent(product, any -> new HashMap<>())
                                .put(node.nodeId(), count));
            }
        }
    }

    boolean holds(TrainingJob job) {
        return usable.keySet().stream().anyMatch(product -> !job.excludes(product.kind()) && least(job, product) > 0);
    }

    /** The fewest GPUs of a product that a job may have by its shape; 0 if the nodes have no such number. */
    int least(TrainingJob job, SimulatedGpu product) {
        OfProduct layout = new OfProduct(product);
        BitSet sizes = JobSite.of(job.shape(), layout).sizes(layout.gpus);
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
        return largest(job, facts -> Long.MAX_VALUE);
    }

    /** The same with the CPUs of nodes that it needs. */
    int largestByCpus(TrainingJob job) {
        HostNeed need = job.hostNeed();
        return largest(job, facts -> by(need.cpuMillisPerGpu(), facts.cpuMillis()));
    }

    /** The same with the host memory of nodes that it needs. */
    int largestByMemory(TrainingJob job) {
        HostNeed need = job.hostNeed();
        return largest(job, facts -> by(need.memoryBytesPerGpu(), facts.memoryBytes()));
    }

    /** The same with both. */
    int largestByHost(TrainingJob job) {
        HostNeed need = job.hostNeed();
        return largest(
                job,
                facts -> Math.min(
                        by(need.cpuMillisPerGpu(), facts.cpuMillis()),
                        by(need.memoryBytesPerGpu(), facts.memoryBytes())));
    }

    /** The GPUs that a resource of a host is enough for. */
    private static long by(Optional<Long> needed, Optional<Long> has) {
        return needed.isEmpty() || has.isEmpty() ? Long.MAX_VALUE : has.get() / needed.get();
    }

    /** @param limit the most GPUs that a job may use on a node, by its host */
    private int largest(TrainingJob job, Function<NodeFacts, Long> limit) {
        int largest = 0;
        for (SimulatedGpu product : usable.keySet()) {
            if (!job.excludes(product.kind())) {
                OfProduct layout = new OfProduct(product);
                JobSite site = JobSite.of(job.shape(), layout);
                Map<String, Integer> domains = new HashMap<>();
                layout.gpus.forEach((node, gpus) -> domains.merge(
                        site.needsDomain() ? site.domain(node) : "",
                        within(
                                limit.apply(
                                        Objects.requireNonNull(nodes.get(node)).facts()),
                                gpus,
                                site),
                        Integer::sum));
                for (int gpus : domains.values()) {
                    largest = Math.max(largest, gpus);
                }
            }
        }
        return largest;
    }

    private static int within(long limit, int gpus, JobSite site) {
        return limit >= gpus ? gpus : site.wholeNodes() ? 0 : (int) limit;
    }

    /** The different numbers of GPUs that nodes have of a product that a job may use. */
    SortedSet<Integer> sizesOfNodes(TrainingJob job) {
        SortedSet<Integer> sizes = new TreeSet<>();
        usable.forEach((product, gpus) -> {
            if (!job.excludes(product.kind())) {
                sizes.addAll(gpus.values());
            }
        });
        return sizes;
    }

    /** What nodes have of a resource of hosts: the most, as far as nodes report it. */
    long most(Function<NodeFacts, Optional<Long>> resource) {
        return nodes.values().stream()
                .flatMap(node -> resource.apply(node.facts()).stream())
                .mapToLong(amount -> amount)
                .max()
                .orElse(0);
    }
}
