package io.lendstream.launcher;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedGroup;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.cli.UserError;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Checks before a replay whether inference nodes can hold a replica of each role of a service. */
final class ServiceFit {
    /** How many nodes of inference have so many GPUs of each product. */
    private final Map<SimulatedGpu, SortedMap<Integer, Integer>> nodes = new EnumMap<>(SimulatedGpu.class);
    /** Whether other GPUs are cut into MIG instances. */
    private final boolean hasInstances;

    ServiceFit(SimulatedNodes.Layout layout) {
        hasInstances = SimulatedGroup.haveInstances(layout.groups());
        layout.gpusByNode()
                .subList(layout.trainingNodes(), layout.nodes())
                .forEach(node -> node.forEach((product, gpus) ->
                        nodes.computeIfAbsent(product, any -> new TreeMap<>()).merge(gpus, 1, Integer::sum)));
    }

    void check(InferenceService service) {
        if (service.hardware().shapes().isEmpty()) {
            checkWhole(service);
            return;
        }
        for (ReplicaRole role : service.hardware().roles()) {
            List<ReplicaShape> shapes = service.hardware().planned(role);
            if (shapes.stream().noneMatch(this::fits)) {
                List<String> needs = new ArrayList<>();
                shapes.forEach(shape -> needs.add("%s needs %s with %s%s"
                        .formatted(
                                shape.name(),
                                Reason.counted(shape.nodes(), "node"),
                                Reason.counted(shape.gpusPerNode(), "GPU"),
                                shape.nodes() > 1 ? " each, of one kind" : "")));
                throw UserError.badUsage(
                        "service %s never has a replica%s: %s (replicaShapes), but inference has %s; change the shapes, or the nodes (--nodes, --training-nodes or --gpus-per-node, or the section cluster)."
                                .formatted(
                                        service.service(),
                                        role.isPart() ? " for " + role.inWords() : "",
                                        String.join(", ", needs),
                                        inferenceNodes()));
            }
        }
    }

    /** Replicas get MIG instances only by measured times of batches, which no replayed service reports. */
    private void checkWhole(InferenceService service) {
        boolean fits = nodes.keySet().stream().anyMatch(product -> service.uses(Optional.of(product.kind())));
        if (hasInstances && !fits) {
            throw UserError.badUsage(
                    "service %s never has a replica: replayed services run on whole GPUs, and inference has %s that it may use beside GPUs that are cut into MIG instances (mig); add a node of inference, or leave mig out for a kind."
                            .formatted(service.service(), nodes.isEmpty() ? "none" : "none of a kind"));
        }
    }

    /** Such as {@code 1 node of kind A100, 2 nodes of kind T4 with 4 GPUs each}. */
    private String inferenceNodes() {
        Set<Integer> sizes = new TreeSet<>();
        nodes.values().forEach(counts -> sizes.addAll(counts.keySet()));
        List<String> counts = new ArrayList<>();
        nodes.forEach((product, bySize) -> bySize.forEach((gpus, count) -> counts.add(
                sizes.size() == 1
                        ? "%s of kind %s".formatted(Reason.counted(count, "node"), product)
                        : "%s with %d of kind %s".formatted(Reason.counted(count, "node"), gpus, product))));
        String text = counts.isEmpty() ? "no node" : String.join(", ", counts);
        return sizes.size() == 1
                ? "%s with %s each"
                        .formatted(text, Reason.counted(sizes.iterator().next(), "GPU"))
                : text;
    }

    private boolean fits(ReplicaShape shape) {
        return nodes.entrySet().stream()
                        .anyMatch(product -> shape.nodes() <= with(shape.gpusPerNode(), product.getValue())
                                && shape.uses(Optional.of(product.getKey().kind())))
                && (shape.nodes() == 1
                        || shape.within().filter(TopologyLevel.NODE::equals).isEmpty());
    }

    /** How many nodes have at least so many GPUs. */
    private static int with(int gpus, SortedMap<Integer, Integer> nodes) {
        return nodes.tailMap(gpus).values().stream().mapToInt(count -> count).sum();
    }
}
