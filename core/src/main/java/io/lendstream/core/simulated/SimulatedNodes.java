package io.lendstream.core.simulated;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Nodes with simulated GPUs. It takes the users of GPUs from reports or leases, and gives samples as an agent on such
 * nodes would: busy and full of memory where a job trains, half busy where a replica serves, idle but loaded where one
 * sleeps.
 */
public final class SimulatedNodes {
    private static final int MOST_EARLY = 256;

    private final Layout layout;
    private final Instant start;
    private final Duration period;
    private final List<Node> nodes;
    private final Set<NodeId> lost = new HashSet<>();
    private final Map<GpuId, Use> uses = new HashMap<>();
    private final Map<DecisionId, Action.Repartition> recuts = new HashMap<>();
    /** The last reports on decisions that are not known yet, or cut nothing. */
    private final Map<DecisionId, ActuationReport> early = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<DecisionId, ActuationReport> eldest) {
            return size() > MOST_EARLY;
        }
    };

    private long sampled;

    /**
     * The numbers of nodes by kind.
     *
     * @param trainingNodes how many of them, the first ones, are of the training pool
     * @param cutNodes how many of them, the last ones, have GPUs that may be cut into MIG instances, and are not yet
     * @param kinds how many nodes have each product, spread evenly over the pools; empty if all have an A100
     * @param topology the labels of nodes
     * @param groups the nodes in their order, if they are not alike; then {@code gpusPerNode} is the most that one has
     */
    public record Layout(
            DomainId domain,
            int nodes,
            int gpusPerNode,
            int trainingNodes,
            int cutNodes,
            long seed,
            Map<SimulatedGpu, Integer> kinds,
            SimulatedTopology topology,
            List<SimulatedGroup> groups) {
        /** Nodes of A100. */
        public Layout(DomainId domain, int nodes, int gpusPerNode, int trainingNodes, int cutNodes, long seed) {
            this(
                    domain,
                    nodes,
                    gpusPerNode,
                    trainingNodes,
                    cutNodes,
                    seed,
                    Map.of(),
                    SimulatedTopology.NONE,
                    List.of());
        }

        /** Nodes of whole A100. */
        public Layout(DomainId domain, int nodes, int gpusPerNode, int trainingNodes, long seed) {
            this(domain, nodes, gpusPerNode, trainingNodes, 0, seed);
        }

        public Layout {
            kinds = Map.copyOf(kinds);
            groups = List.copyOf(groups);
            int sum = kinds.values().stream().mapToInt(count -> count).sum();
            if (!kinds.isEmpty() && sum != nodes) {
                throw new IllegalArgumentException(
                        "kinds must have as many nodes as the layout, %d, but have %d".formatted(nodes, sum));
            }
            if (!groups.isEmpty() && (SimulatedGroup.nodes(groups) != nodes || !kinds.isEmpty() || cutNodes > 0)) {
                throw new IllegalArgumentException(
                        "groups must have as many nodes as the layout, %d, without kinds and cutNodes, but have %d"
                                .formatted(nodes, SimulatedGroup.nodes(groups)));
            }
            if (topology.only().isPresent() && nodes > 1) {
                throw new IllegalArgumentException("only one node can have a name, but nodes was " + nodes);
            }
            if (cutNodes > 0 && !kinds.isEmpty()) {
                throw new IllegalArgumentException("nodes of several kinds are not cut, but cutNodes was " + cutNodes);
            }
            if (nodes < 1 || gpusPerNode < 1) {
                throw new IllegalArgumentException(
                        "nodes and gpusPerNode must be at least 1, but were %d and %d".formatted(nodes, gpusPerNode));
            }
            if (trainingNodes < 0 || trainingNodes > nodes) {
                throw new IllegalArgumentException(
                        "trainingNodes must lie between 0 and %d, the number of nodes, but was %d"
                                .formatted(nodes, trainingNodes));
            }
            if (cutNodes < 0 || cutNodes > nodes) {
                throw new IllegalArgumentException("cutNodes must lie between 0 and %d, the number of nodes, but was %d"
                        .formatted(nodes, cutNodes));
            }
        }

        /** The same with nodes of several products. */
        public Layout withKinds(Map<SimulatedGpu, Integer> others) {
            return new Layout(domain, nodes, gpusPerNode, trainingNodes, cutNodes, seed, others, topology, groups);
        }

        /** The same with nodes in racks and NVLink domains. */
        public Layout with(SimulatedTopology other) {
            return new Layout(domain, nodes, gpusPerNode, trainingNodes, cutNodes, seed, kinds, other, groups);
        }

        /** The same with the nodes of these groups. */
        public Layout withGroups(List<SimulatedGroup> others) {
            int most = SimulatedGroup.mostGpus(others);
            return new Layout(
                    domain, SimulatedGroup.nodes(others), most, trainingNodes, 0, seed, Map.of(), topology, others);
        }

        /** The GPUs of each node that are not cut into MIG instances, by product. */
        public List<Map<SimulatedGpu, Integer>> gpusByNode() {
            return LayoutNodes.gpus(this);
        }

        /** The products of all GPUs, also of those that are cut into MIG instances. */
        public Set<SimulatedGpu> products() {
            return LayoutNodes.allProducts(this);
        }

        /** The GPUs of each product on the first nodes that are not cut into MIG instances. */
        public Map<SimulatedGpu, Integer> gpusOfKinds(int firstNodes) {
            Map<SimulatedGpu, Integer> counts = new EnumMap<>(SimulatedGpu.class);
            gpusByNode()
                    .subList(0, firstNodes)
                    .forEach(node -> node.forEach((product, gpus) -> counts.merge(product, gpus, Integer::sum)));
            return counts;
        }

        /** The GPUs of the first nodes that are not cut into MIG instances. */
        public int gpusOf(int firstNodes) {
            return gpusOfKinds(firstNodes).values().stream()
                    .mapToInt(gpus -> gpus)
                    .sum();
        }

        /** The labels that name the racks and NVLink domains of nodes. */
        public TopologyLabels labels() {
            return topology.labels(SimulatedGroup.labels(groups));
        }
    }

    enum Use {
        TRAINING,
        SERVING,
        WARM;

        static Use of(Tenant tenant) {
            return tenant.match(Tenant.Cases.of(job -> TRAINING, service -> SERVING));
        }
    }

    /**
     * @param start when the nodes' agents started; the first samples follow a period later
     * @param bootId the name of that start
     */
    public SimulatedNodes(Layout layout, Instant start, Duration period, String bootId) {
        if (period.isNegative() || period.isZero()) {
            throw new IllegalArgumentException("the sampling period must be above 0 s, but was " + period);
        }
        this.layout = layout;
        this.start = start;
        this.period = period;
        this.nodes = new ArrayList<>(LayoutNodes.inventory(layout, start, bootId));
    }

    /** The inventory, as the agents publish it when they start. */
    public List<Node> inventory() {
        return List.copyOf(nodes);
    }

    /** A node is gone: its agent gives no more samples. */
    public void lose(NodeId node) {
        lost.add(node);
        nodes.stream()
                .filter(one -> one.nodeId().equals(node))
                .forEach(one -> one.gpus().forEach(gpu -> {
                    uses.remove(gpu.gpuId());
                    gpu.instances().forEach(instance -> uses.remove(instance.gpuId()));
                }));
    }

    /** A lost node is back; returns the inventory that its new agent publishes. */
    public Node restart(NodeId node, Instant at) {
        lost.remove(node);
        int index = IntStream.range(0, nodes.size())
                .filter(i -> nodes.get(i).nodeId().equals(node))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no node " + node));
        Node before = nodes.get(index);
        String boot = "%s at %s".formatted(before.bootId().split(" ", 2)[0], at);
        nodes.set(index, before.with(boot, at, before.gpus()));
        return nodes.get(index);
    }

    /**
     * Takes a decided cut of GPUs; it is done once a report says that it is applied.
     *
     * @return the inventories that changed, where the report came before the decision
     */
    public List<Node> observe(Decision decision) {
        Optional<Action.Repartition> repartition = decision.action().asRepartition();
        if (repartition.isEmpty()) {
            return List.of();
        }
        recuts.put(decision.id(), repartition.get());
        return Optional.ofNullable(early.remove(decision.id())).map(this::recut).orElse(List.of());
    }

    /** The inventories that changed by what the actuator did, as the agents publish them then. */
    public List<Node> recut(ActuationReport report) {
        boolean isOver = report.outcome() == Outcome.APPLIED
                || report.outcome() == Outcome.REJECTED
                || report.outcome() == Outcome.FAILED;
        if (!isOver || report.tenant().isPresent()) {
            return List.of();
        }
        Optional<Action.Repartition> recut = Optional.ofNullable(recuts.remove(report.decision()));
        if (recut.isEmpty()) {
            early.put(report.decision(), report);
        }
        return recut.filter(any -> report.outcome() == Outcome.APPLIED)
                .map(applied -> recut(applied, report.at()))
                .orElse(List.of());
    }

    private List<Node> recut(Action.Repartition recut, Instant at) {
        List<Node> changed = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            Node before = nodes.get(i);
            List<Gpu> gpus = before.gpus().stream()
                    .map(gpu -> recut.gpus().contains(gpu.gpuId()) ? cut(gpu, recut.profiles()) : gpu)
                    .toList();
            if (!gpus.equals(before.gpus())) {
                nodes.set(i, before.with(before.bootId(), at, gpus));
                changed.add(nodes.get(i));
            }
        }
        return changed;
    }

    private static Gpu cut(Gpu gpu, List<String> texts) {
        MigGpu kind = gpu.kind().orElseThrow(() -> new IllegalArgumentException(gpu.model() + " has no MIG instances"));
        return LayoutNodes.cut(
                gpu,
                texts.stream()
                        .map(text -> MigPlace.parse(kind, text)
                                .orElseThrow(() -> new IllegalArgumentException(
                                        "%s has no place %s".formatted(kind.model(), text))))
                        .toList());
    }

    /** Learns who uses a GPU from what the actuator did. */
    public void observe(ActuationReport report) {
        switch (report.outcome()) {
            case BOUND ->
                report.tenant().ifPresent(tenant -> report.gpus().forEach(gpu -> uses.put(gpu, Use.of(tenant))));
            case RELEASED, FORCED, FAILED -> report.gpus().forEach(uses::remove);
            default -> {}
        }
    }

    /** Learns who uses each GPU, where reports do not name the GPUs themselves. */
    public void observe(Map<GpuId, Tenant> tenants) {
        uses.clear();
        tenants.forEach((gpu, tenant) -> uses.put(gpu, Use.of(tenant)));
    }

    /** Learns who uses a GPU from its lease. */
    public void observe(Lease lease) {
        lease.owner()
                .match(UseByOwner.INSTANCE)
                .ifPresentOrElse(use -> uses.put(lease.gpuId(), use), () -> uses.remove(lease.gpuId()));
    }

    /** When the next samples are taken. */
    public Instant nextSampleAt() {
        return start.plus(period.multipliedBy(sampled + 1));
    }

    /** The samples due by now that were not given yet, each at its own time, node by node. */
    public List<GpuTelemetry> samplesUntil(Instant now) {
        var samples = new ArrayList<GpuTelemetry>();
        while (!nextSampleAt().isAfter(now)) {
            Instant at = nextSampleAt();
            sampled++;
            present().forEach(node -> samples.add(sample(node, sampled, at)));
        }
        return samples;
    }

    /** One sample of every node at this moment, out of turn. */
    public List<GpuTelemetry> sampleNow(Instant at) {
        sampled++;
        return present().map(node -> sample(node, sampled, at)).toList();
    }

    private Stream<Node> present() {
        return nodes.stream().filter(node -> !lost.contains(node.nodeId()));
    }

    private GpuTelemetry sample(Node node, long sequence, Instant at) {
        List<GpuSample> samples = node.gpus().stream()
                .flatMap(gpu -> gpu.migEnabled()
                        ? gpu.instances().stream().map(each -> sample(each.gpuId(), each.memoryBytes(), at))
                        : Stream.of(sample(gpu.gpuId(), gpu.memoryBytes(), at)))
                .toList();
        return new GpuTelemetry(node.nodeId(), node.domain(), node.bootId(), sequence, at, samples);
    }

    private GpuSample sample(GpuId gpu, long memoryBytes, Instant at) {
        SplittableRandom chance = Chance.of(layout.seed, gpu, at);
        Optional<Use> use = Optional.ofNullable(uses.get(gpu));
        double busy = use.map(kind -> switch (kind) {
                    case TRAINING -> 0.93 + 0.06 * centred(chance);
                    case SERVING -> 0.55 + 0.2 * centred(chance);
                    case WARM -> 0.0;
                })
                .orElse(0.0);
        double full = use.map(kind -> switch (kind) {
                    case TRAINING -> 0.72 + 0.02 * centred(chance);
                    case SERVING, WARM -> 0.38 + 0.01 * centred(chance);
                })
                .orElse(0.006);
        double watts = 62 + 318 * busy + 4 * centred(chance) + (use.isPresent() ? 12 : 0);
        return GpuSample.of(gpu)
                .utilization(round(busy, 1000))
                .smActivity(round(0.8 * busy, 1000))
                .dramActivity(round(0.45 * busy, 1000))
                .memoryUsedBytes(Math.round(full * memoryBytes / (1 << 20)) * (1L << 20))
                .memoryTotalBytes(memoryBytes)
                .powerWatts(round(watts, 10))
                .temperatureCelsius(round(31 + 38 * busy + centred(chance), 1))
                .build();
    }

    private static double centred(SplittableRandom chance) {
        return 2 * chance.nextDouble() - 1;
    }

    private static double round(double value, int parts) {
        return (double) Math.round(value * parts) / parts;
    }
}
