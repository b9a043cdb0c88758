package io.lendstream.simulator.batching;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.Packing;
import io.lendstream.core.batching.PackingPlanner;
import io.lendstream.core.batching.PlannedService;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.latency.ProbeChoice;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Measures a few batches of each model, and no more: first the corners, then round by round what tells most about the
 * plan as it is so far. Ends before all probes are used where the plan would need as many GPUs if all latencies were a
 * standard deviation longer or shorter.
 *
 * @param models which services have which model
 */
public record ProbeCampaign(MigGpu gpu, List<PlannedService> services, Map<String, String> models) {
    private static final int CORNERS = 4;
    /** What a batch matters with which the plan does not reckon, but another might: in slices. */
    private static final double UNUSED = .1;
    /**
     * A batch must not take longer than this share of the objective, for a request may wait for one and be in the next.
     */
    private static final double SHARE_OF_OBJECTIVE = 1 / 2.24;

    /**
     * Probes all models.
     *
     * @param tables by model; asked for no more rows than are probed
     * @param probes of each model at most, at least 1
     */
    public Map<String, ProbedModel> run(
            Map<String, LatencyTable> tables, Function<LatencyTable, LatencyPrior> priors, int probes) {
        Map<String, ProbedModel> known = new TreeMap<>();
        tables.forEach((model, table) ->
                known.put(model, ProbedModel.of(table, priors.apply(table)).withCorners(Math.min(probes, CORNERS))));
        for (int round = CORNERS; round < probes && !isStable(known); round++) {
            Map<String, Map<ProbeChoice.Point, Double>> matter = matter(known);
            known.replaceAll((model, probed) -> probed.withBest(Objects.requireNonNull(matter.get(model))));
        }
        return known;
    }

    private boolean isStable(Map<String, ProbedModel> known) {
        return gpus(capacities(known, model -> model.off(1))) == gpus(capacities(known, model -> model.off(-1)));
    }

    private int gpus(List<ServiceCapacity> capacities) {
        return capacities.size() < services.size()
                ? Integer.MAX_VALUE
                : plan(capacities).gpus().size();
    }

    private Packing plan(List<ServiceCapacity> capacities) {
        return new PackingPlanner(
                        gpu, capacities.stream().map(ServiceCapacity::demand).toList())
                .greedy();
    }

    /** Of services that can be served at all. */
    private List<ServiceCapacity> capacities(
            Map<String, ProbedModel> known, Function<ProbedModel, ModelLatency> latencies) {
        return services.stream()
                .map(service -> service.withLatency(latencies.apply(known.get(models.get(service.name())))))
                .map(service -> ServiceCapacity.estimated(service, gpu, 1))
                .filter(capacity -> !capacity.byProfile().isEmpty())
                .toList();
    }

    /** The batches with which a plan would reckon at most, by model, and how many slices depend on each. */
    private Map<String, Map<ProbeChoice.Point, Double>> matter(Map<String, ProbedModel> known) {
        Map<String, Map<ProbeChoice.Point, Double>> matter = new TreeMap<>();
        known.keySet().forEach(model -> matter.put(model, new LinkedHashMap<>()));
        List<ServiceCapacity> capacities = capacities(known, model -> model.latency(0));
        if (capacities.isEmpty()) {
            return matter;
        }
        Map<String, Integer> slices = new HashMap<>();
        for (Packing.Cut cut : plan(capacities).gpus()) {
            for (int slot = 0; slot < cut.profiles().size(); slot++) {
                MigProfile profile = cut.profiles().get(slot);
                String name = capacities.get(cut.services().get(slot)).service().name();
                slices.merge(key(name, profile), profile.computeSlices(), Integer::sum);
            }
        }
        for (ServiceCapacity capacity : capacities) {
            String name = capacity.service().name();
            for (MigProfile profile : capacity.byProfile().keySet()) {
                double weight = UNUSED + slices.getOrDefault(key(name, profile), 0);
                for (int edge : capacity.edges()) {
                    Objects.requireNonNull(matter.get(models.get(name)))
                            .merge(
                                    most(capacity.service(), profile, edge),
                                    weight / capacity.edges().size(),
                                    Double::sum);
                }
            }
        }
        return matter;
    }

    /** About the largest batch that leaves a request in time that has just missed one. */
    private ProbeChoice.Point most(PlannedService service, MigProfile profile, int size) {
        BatchLatency batches = service.latency().on(profile, size).orElseThrow();
        int batch = 1;
        while (2 * batch <= batches.largestBatch()
                && batches.millis(2 * batch) <= SHARE_OF_OBJECTIVE * service.sloMillis()) {
            batch *= 2;
        }
        return new ProbeChoice.Point(
                Slice.of(gpu, profile), batch, (double) size / service.latency().largestSize());
    }

    private static String key(String service, MigProfile profile) {
        return service + " " + profile.name();
    }
}
