package io.lendstream.launcher;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.cli.UserError;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks before a replay whether inference nodes can hold a replica of each role of a service. */
final class ServiceFit {
    private final SimulatedNodes.Layout layout;
    /** The nodes of each product that are inference's. */
    private final Map<SimulatedGpu, Integer> nodes = new EnumMap<>(SimulatedGpu.class);

    ServiceFit(SimulatedNodes.Layout layout) {
        this.layout = layout;
        layout.products()
                .subList(layout.trainingNodes(), layout.nodes())
                .forEach(product -> nodes.merge(product, 1, Integer::sum));
    }

    void check(InferenceService service) {
        if (service.hardware().shapes().isEmpty()) {
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
                        "service %s never has a replica%s: %s (replicaShapes), but inference has %s with %s each; change the shapes, or the nodes (--nodes, --training-nodes or --gpus-per-node, or the section cluster)."
                                .formatted(
                                        service.service(),
                                        role.isPart() ? " for " + role.inWords() : "",
                                        String.join(", ", needs),
                                        inferenceNodes(),
                                        Reason.counted(layout.gpusPerNode(), "GPU")));
            }
        }
    }

    private String inferenceNodes() {
        List<String> counts = new ArrayList<>();
        nodes.forEach(
                (product, count) -> counts.add("%s of kind %s".formatted(Reason.counted(count, "node"), product)));
        return counts.isEmpty() ? "no node" : String.join(", ", counts);
    }

    private boolean fits(ReplicaShape shape) {
        return shape.gpusPerNode() <= layout.gpusPerNode()
                && nodes.entrySet().stream()
                        .anyMatch(product -> shape.nodes() <= product.getValue()
                                && shape.uses(Optional.of(product.getKey().kind())))
                && (shape.nodes() == 1
                        || shape.within().filter(TopologyLevel.NODE::equals).isEmpty());
    }
}
