package io.lendstream.core.simulated;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The nodes of a layout: their GPUs, and what they report beside them. */
final class LayoutNodes {
    private static final long GIB = 1L << 30;

    private LayoutNodes() {}

    /** The whole GPUs of each node, by product. */
    static List<Map<SimulatedGpu, Integer>> gpus(SimulatedNodes.Layout layout) {
        List<Map<SimulatedGpu, Integer>> gpus = new ArrayList<>();
        for (SimulatedGroup group : byNode(layout)) {
            gpus.add(group.wholeGpus());
        }
        return gpus;
    }

    /** The products of all GPUs, also of those that are cut. */
    static Set<SimulatedGpu> allProducts(SimulatedNodes.Layout layout) {
        Set<SimulatedGpu> products = EnumSet.noneOf(SimulatedGpu.class);
        for (SimulatedGroup group : byNode(layout)) {
            products.addAll(group.gpus().keySet());
        }
        return products;
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
                Gpu gpu = product.getKey().gpu(gpuId(domain, node, gpus.size()), gpus.size());
                gpus.add(cut(gpu, group.cuts().getOrDefault(product.getKey(), List.of())));
            }
        }
        return gpus;
    }

    /** A GPU with these MIG instances; whole if there are none. */
    static Gpu cut(Gpu gpu, List<MigPlace> places) {
        return places.isEmpty()
                ? gpu.uncut()
                : gpu.cutInto(places.stream()
                        .map(place -> instance(gpu.gpuId(), place))
                        .toList());
    }

    private static GpuInstance instance(GpuId gpu, MigPlace place) {
        MigProfile profile = place.profile();
        int size = profile.memorySlices();
        String id = "%s/%d:%d".formatted(gpu, place.start(), size);
        return new GpuInstance(
                new GpuId(id),
                profile.name(),
                place.start(),
                size,
                Math.round(profile.memoryGib().orElseThrow() * GIB),
                Optional.of("MIG-" + UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8))));
    }

    private static GpuId gpuId(DomainId domain, NodeId node, int index) {
        byte[] name = "%s/%s/%d".formatted(domain, node, index).getBytes(StandardCharsets.UTF_8);
        return new GpuId("GPU-" + UUID.nameUUIDFromBytes(name));
    }
}
