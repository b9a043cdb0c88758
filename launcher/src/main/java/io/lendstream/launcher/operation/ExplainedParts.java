package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The replicas of several GPUs that a decision starts, or the GPUs that it gives a gang, for people and programs. */
final class ExplainedParts {
    private ExplainedParts() {}

    /**
     * GPUs that work only together.
     *
     * @param replica the replica that they are; empty for a gang
     */
    private record Together(Optional<ReplicaUnits> replica, Set<GpuId> gpus) {
        private String inWords() {
            return replica.map(known ->
                            "replica %s, %s".formatted(known.replica(), UnitParts.shape(known.shape(), known.role())))
                    .orElse("gang, which trains once all these GPUs are bound");
        }
    }

    private static List<Together> of(Explanation explanation) {
        List<Together> all = new ArrayList<>();
        explanation
                .recorded()
                .action()
                .asServe()
                .filter(serve -> !serve.warm())
                .map(Action.Serve::replicas)
                .orElse(List.of())
                .forEach(replica -> all.add(new Together(Optional.of(replica), Set.copyOf(replica.units()))));
        Set<GpuId> gang = Set.copyOf(explanation.gangGains());
        if (!gang.isEmpty()) {
            all.add(new Together(Optional.empty(), gang));
        }
        return all;
    }

    /** The GPUs that are bound by the decision, by its reports. */
    private static Set<GpuId> bound(DecisionOutcome fate) {
        Set<GpuId> bound = new HashSet<>();
        for (ActuationReport report : fate.reports()) {
            switch (report.outcome()) {
                case BOUND -> bound.addAll(report.gpus());
                case FAILED, RELEASED, FORCED -> report.gpus().forEach(bound::remove);
                default -> {}
            }
        }
        return bound;
    }

    private static int count(Set<GpuId> bound, Together together) {
        int count = 0;
        for (GpuId gpu : together.gpus()) {
            count += bound.contains(gpu) ? 1 : 0;
        }
        return count;
    }

    static List<String> lines(Explanation explanation, DecisionOutcome fate) {
        Set<GpuId> bound = bound(fate);
        Optional<Instant> due = Optional.of(explanation.recorded().deadline());
        return of(explanation).stream()
                .map(together -> "  %s, %d GPUs: %s"
                        .formatted(
                                together.inWords(),
                                together.gpus().size(),
                                UnitParts.bound(
                                        count(bound, together), together.gpus().size(), due)))
                .toList();
    }

    static void put(ArrayNode all, Explanation explanation, DecisionOutcome fate) {
        Set<GpuId> bound = bound(fate);
        for (Together together : of(explanation)) {
            ObjectNode one = all.addObject()
                    .put("of", together.replica().isPresent() ? "replica" : "gang")
                    .put("gpus", together.gpus().size())
                    .put("bound", count(bound, together))
                    .put("boundBy", explanation.recorded().deadline().toString());
            together.replica()
                    .ifPresent(replica -> one.put("name", replica.replica().value())
                            .put("shape", replica.shape())
                            .put("role", replica.role().inWords()));
        }
    }
}
