package io.lendstream.core.simulated;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The nodes of a layout: their GPUs, and what they report beside them. */
final class LayoutNodes {
    private LayoutNodes() {}

    /** The GPUs of each node, by product. */
    static List<Map<SimulatedGpu, Integer>> gpus(SimulatedNodes.Layout layout) {
        List<Map<SimulatedGpu, Integer>> gpus = new ArrayList<>();
        for (SimulatedGroup group : byNode(layout)) {
            gpus.add(group.gpus());
        }
        return gpus;
    }

    /** What each node is like. */
    private static List<SimulatedGroup> byNode(SimulatedNodes.Layout layout) {
        List<SimulatedGroup> nodes = new ArrayList<>();
        if (layout.groups().isEmpty()) {
            for (SimulatedGpu product : products(layout)) {
                Map<SimulatedGpu, Integer> gpus = Map.of(product, layout.gpusPerNode());
                nodes.add(new SimulatedGroup(1, gpus, Map.of(), SimulatedHost.NONE));
            }
        }
        for (SimulatedGroup group : layout.groups()) {
            for (int i = 0; i < group.nodes(); i++) {
                nodes.add(group);
            }
        }
        return nodes;
    }

    /** The product of each node. A product comes next if it is furthest behind its share of the nodes so far. */
    private static List<SimulatedGpu> products(SimulatedNodes.Layout layout) {
        int nodes = layout.nodes();
        Map<SimulatedGpu, Integer> left = new EnumMap<>(SimulatedGpu.class);
        left.putAll(layout.kinds().isEmpty() ? Map.of(SimulatedGpu.A100, nodes) : layout.kinds());
        Map<SimulatedGpu, Integer> all = new EnumMap<>(left);
        List<SimulatedGpu> products = new ArrayList<>();
        for (int number = 1; number <= nodes; number++) {
            int before = number;
            SimulatedGpu next = left.entrySet().stream()
                    .max(Comparator.comparingLong((Map.Entry<SimulatedGpu, Integer> product) -> {
                        int share = all.getOrDefault(product.getKey(), 0);
                        return (long) share * before - (long) nodes * (share - product.getValue());
                    }))
                    .orElseThrow()
                    .getKey();
            left.merge(next, -1, Integer::sum);
            products.add(next);
        }
        return products;
    }

    /** The inventory, as the agents publish it when they start. */
    static List<Node> inventory(SimulatedNodes.Layout layout, Instant start, String bootId) {
        List<SimulatedGroup> groups = byNode(layout);
        var nodes = new ArrayList<Node>();
        for (int number = 0; number < layout.nodes(); number++) {
            SimulatedGroup group = groups.get(number);
            NodeId id = layout.topology().name(number, layout.nodes());
            boolean isCut = number >= layout.nodes() - layout.cutNodes();
            Pool pool = number < layout.trainingNodes() ? Pool.TRAINING : Pool.INFERENCE;
            NodeFacts facts = layout.topology().facts(number, group.labels(), group.host());
            List<Gpu> gpus = gpus(layout.domain(), id, group);
            nodes.add(new Node(
                            id,
                            layout.domain(),
                            pool,
                            bootId,
                            start,
                            NodeStatus.READY,
                            isCut ? gpus.stream().map(Gpu::switchable).toList() : gpus)
                    .with(facts));
        }
        return List.copyOf(nodes);
    }

    private static List<Gpu> gpus(DomainId domain, NodeId node, SimulatedGroup group) {
        List<Gpu> gpus = new ArrayList<>();
        for (Map.Entry<SimulatedGpu, Integer> product : group.gpus().entrySet()) {
            for (int i = 0; i < product.getValue(); i++) {
                gpus.add(product.getKey().gpu(gpuId(domain, node, gpus.size()), gpus.size()));
            }
        }
        return gpus;
    }

    private static GpuId gpuId(DomainId domain, NodeId node, int index) {
        byte[] name = "%s/%s/%d".formatted(domain, node, index).getBytes(StandardCharsets.UTF_8);
        return new GpuId("GPU-" + UUID.nameUUIDFromBytes(name));
    }
}
