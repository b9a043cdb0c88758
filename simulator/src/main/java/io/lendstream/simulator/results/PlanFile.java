package io.lendstream.simulator.results;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.batching.BatchPlan;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.simulator.batching.PlanPlayer;
import io.lendstream.simulator.batching.PlanStudy;
import io.lendstream.simulator.batching.ServiceLine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes {@code plan.json}, whose fields are a contract with those who read it. */
public final class PlanFile {
    private static final ObjectMapper PAGES = Json.pages();
    private static final String NAME = "plan.json";

    private PlanFile() {}

    /**
     * Into a directory that is there.
     *
     * @param lines the services, in the plan's order
     * @return the file
     */
    public static Path write(Path directory, PlanStudy.Result result, List<ServiceLine> lines) {
        Path file = directory.resolve(NAME);
        try {
            PAGES.writeValue(file.toFile(), fields(result, lines));
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written to %s".formatted(NAME, directory), e);
        }
        return file;
    }

    private static Map<String, @Nullable Object> fields(PlanStudy.Result result, List<ServiceLine> lines) {
        BatchPlan plan = result.plan();
        PlanStudy.Comparison comparison = result.comparison();
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("gpu", plan.gpu().model());
        fields.put("gpus", plan.gpus());
        fields.put("slices", plan.packing().slices());
        fields.put("lowerBoundGpus", plan.bounds().gpus());
        fields.put("lpBoundGpus", rounded(plan.bounds().linear()));
        fields.put("volumeBoundGpus", rounded(plan.bounds().volume()));
        fields.put(
                "migOffGpus",
                comparison.migOff().isPresent() ? comparison.migOff().getAsInt() : null);
        fields.put(
                "migOffFractionalGpus",
                comparison.migOffFractional().isPresent()
                        ? rounded(comparison.migOffFractional().getAsDouble())
                        : null);
        fields.put("uniformGpus", comparison.uniform());
        fields.put("greedyGpus", comparison.greedy());
        fields.put("halfObjectiveGpus", comparison.halfObjective());
        fields.put("halfObjectiveWorstP99OverSlo", rounded(comparison.halfObjectiveWorst()));
        fields.put("instances", instances(result, lines));
        fields.put("services", services(result));
        fields.put("probesUsed", result.probesUsed());
        fields.put("capacityMillis", rounded(result.capacityMillis()));
        fields.put("planMillis", rounded(result.planMillis()));
        return fields;
    }

    private static List<Map<String, @Nullable Object>> instances(PlanStudy.Result result, List<ServiceLine> lines) {
        List<Map<String, @Nullable Object>> list = new ArrayList<>();
        for (int i = 0; i < result.plan().instances().size(); i++) {
            BatchPlan.Instance instance = result.plan().instances().get(i);
            ServiceCapacity service = result.plan().services().get(instance.service());
            List<Integer> batches = service.largestBatches(instance.place().profile());
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("gpu", instance.gpu());
            fields.put("profile", instance.place().profile().name());
            fields.put("start", instance.place().start());
            fields.put("service", service.service().name());
            fields.put("model", lines.get(instance.service()).model());
            fields.put("buckets", service.edges());
            fields.put(
                    "maxBatch",
                    batches.stream().mapToInt(Integer::intValue).max().orElseThrow());
            fields.put("maxBatches", batches);
            fields.put("maxQueueDelayMs", 0);
            fields.put("rate", rounded(instance.ratePerSecond()));
            fields.put(
                    "capacity",
                    rounded(Objects.requireNonNull(
                                    service.byProfile().get(instance.place().profile()))
                            .ratePerSecond()));
            fields.put("predictedP99Ms", rounded(result.expected().get(i).p99Millis()));
            if (!result.played().isEmpty()) {
                PlanPlayer.Outcome played = result.played().get(i);
                fields.put("playedP99Ms", rounded(played.p99Millis()));
                fields.put("playedP99UpperMs", rounded(played.upperMillis()));
                fields.put("playedBusy", rounded(played.busy()));
            }
            list.add(fields);
        }
        return list;
    }

    private static List<Map<String, @Nullable Object>> services(PlanStudy.Result result) {
        List<Map<String, @Nullable Object>> list = new ArrayList<>();
        BatchPlan plan = result.plan();
        double[] capacities = plan.packing()
                .capacities(
                        plan.services().stream().map(ServiceCapacity::demand).toList());
        for (int i = 0; i < plan.services().size(); i++) {
            ServiceCapacity service = plan.services().get(i);
            double slo = service.service().sloMillis();
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("name", service.service().name());
            fields.put("rate", Json.finite(service.service().ratePerSecond()));
            fields.put("capacity", rounded(capacities[i]));
            fields.put("predictedP99Ms", rounded(slo * result.worst(i, result.expected())));
            if (!result.played().isEmpty()) {
                fields.put("playedP99UpperMs", rounded(slo * result.worst(i, result.played())));
            }
            fields.put("sloMs", Json.finite(slo));
            list.add(fields);
        }
        return list;
    }

    private static @Nullable Double rounded(double value) {
        return Json.rounded(value, 1000);
    }
}
